import type { ResponseBody } from '../../src/driver/sandbox/api-server/response-body.js';

/** What happens to a streamed answer once `afterBytes` of it were sent. */
export interface BodyFault {
  readonly afterBytes: number;
  /**
   * `reset`: connection reset; `end`: a clean end (as when the kubelet's connection broke); `stall`: silence until
   * `release`; `pause`: silence for `ms`, then on, while the reader behind it does not read; `repeat`: the last `bytes`
   * once more, then on; `insert`: `text` in the middle of whatever is sent, as the kubelet writes its errors, then on.
   */
  readonly then: 'reset' | 'end' | 'stall' | 'pause' | 'repeat' | 'insert';
  /** For `repeat`; absent: all. */
  readonly bytes?: number;
  /** For `pause`. */
  readonly ms?: number;
  /** For `insert`. */
  readonly text?: string;
}

/** A body with a fault. `stalled` resolves when a stall is to end. */
export function damagedBody(body: ResponseBody, fault: BodyFault, stalled: () => Promise<void>): ResponseBody {
  let sent = 0;
  /** For `repeat`. */
  let kept = Buffer.alloc(0);
  let done = false;

  const strike = async (rest: Uint8Array): Promise<boolean> => {
    switch (fault.then) {
      case 'reset':
        // The bytes before it are to arrive.
        await new Promise((resolve) => setTimeout(resolve, 10));
        body.reset();
        return false;
      case 'end':
        body.end();
        return false;
      case 'stall':
        await stalled();
        body.end();
        return false;
      case 'pause':
        await new Promise((resolve) => setTimeout(resolve, fault.ms ?? 0));
        return body.write(rest);
      case 'repeat':
        return (await body.write(kept.subarray(Math.max(0, sent - (fault.bytes ?? sent))))) && body.write(rest);
      case 'insert':
        return (await body.write(Buffer.from(fault.text ?? ''))) && body.write(rest);
    }
  };

  const keep = (chunk: Uint8Array): void => {
    sent += chunk.length;
    if (fault.then === 'repeat') kept = Buffer.concat([kept, chunk]);
  };
  const write = async (chunk: Uint8Array): Promise<boolean> => {
    if (done) return body.write(chunk);
    const room = fault.afterBytes - sent;
    if (chunk.length < room) {
      keep(chunk);
      return body.write(chunk);
    }
    done = true;
    const head = chunk.subarray(0, room);
    keep(head);
    if (head.length > 0 && !(await body.write(head))) return false;
    return strike(chunk.subarray(room));
  };
  return { ...body, write, closed: body.closed, end: () => body.end() };
}
