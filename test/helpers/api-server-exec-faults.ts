import { CHANNEL, type ExecChannels } from '../../src/driver/sandbox/api-server/exec-channels.js';

/** What happens to an exec once `afterBytes` of its standard output were sent. */
export interface ExecFault {
  readonly afterBytes: number;
  /**
   * `reset`: the connection breaks; `close`: it is closed cleanly, without a status; `success`: status Success and the
   * end, the rest of the data never comes; `early-success`: the status comes, then the rest of the data; `stall`:
   * silence until `release`, or until the client goes; `pause`: silence for `ms`, then on; `corrupt`: one byte is another.
   */
  readonly then: 'reset' | 'close' | 'success' | 'early-success' | 'stall' | 'pause' | 'corrupt';
  /** For `pause`. */
  readonly ms?: number;
}

/** After these nothing more is sent. */
const ENDS: readonly ExecFault['then'][] = ['reset', 'close', 'success'];
const SUCCESS = Buffer.from('{"metadata":{},"status":"Success"}');

/** Channels with a fault. `stalled` resolves when a stall is to end. */
export function damagedExec(channels: ExecChannels, fault: ExecFault, stalled: () => Promise<void>): ExecChannels {
  let sent = 0;
  let done = false;

  /** `next` sends what was due. */
  const strike = async (next: () => Promise<boolean>, rest: Uint8Array): Promise<boolean> => {
    switch (fault.then) {
      case 'reset':
        // The bytes before it are to arrive.
        await new Promise((resolve) => setTimeout(resolve, 10));
        channels.reset();
        return false;
      case 'close':
        channels.close();
        return false;
      case 'success':
        await channels.send(CHANNEL.status, SUCCESS);
        channels.close();
        return false;
      case 'early-success':
        await channels.send(CHANNEL.status, SUCCESS);
        return next();
      case 'stall':
        await stalled();
        return next();
      case 'pause':
        await new Promise((resolve) => setTimeout(resolve, fault.ms ?? 0));
        return next();
      case 'corrupt':
        return channels.send(
          CHANNEL.stdout,
          rest.map((byte, index) => (index === 0 ? byte ^ 1 : byte)),
        );
    }
  };

  return {
    closed: channels.closed,
    close: () => channels.close(),
    reset: () => channels.reset(),
    send: async (channel, chunk) => {
      const due = (): Promise<boolean> => channels.send(channel, chunk);
      if (done) {
        if (fault.then === 'early-success' && channel === CHANNEL.status) return true;
        return ENDS.includes(fault.then) ? false : due();
      }
      const room = fault.afterBytes - sent;
      if (channel === CHANNEL.status && room === 0) {
        done = true;
        return fault.then === 'corrupt' || fault.then.endsWith('success') ? due() : strike(due, chunk);
      }
      // What is exactly full goes on: the fault comes with the byte after it, or with the status.
      if (channel !== CHANNEL.stdout || chunk.length <= room) {
        if (channel === CHANNEL.stdout) sent += chunk.length;
        return due();
      }
      done = true;
      const rest = chunk.subarray(room);
      if (room > 0 && !(await channels.send(channel, chunk.subarray(0, room)))) return false;
      return strike(() => channels.send(channel, rest), rest);
    },
  };
}
