import type { Clock } from '../driver/clock.js';
import type { StopReason } from '../driver/driver.js';
import { durationText, spanText } from './durations.js';

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Where signals come from: `process`, or an event emitter in a test. */
export interface SignalSource {
  on(signal: Signal, listener: () => void): unknown;
}

export interface StopSignals {
  /** Aborted once, by the first signal or the time-out, with a `StopReason`. */
  readonly signal: AbortSignal;
  /** Begins the orderly stop after `ms`, or leaves where signals do; 0: never. Gives what ends the timer. */
  startTimer(ms: number, clock: Clock): () => void;
}

export interface StopOptions {
  /** True where SIGINT is a person's Ctrl-C; a CI system sends SIGTERM right after SIGINT, which must not cut the stop short. */
  readonly fromTerminal: boolean;
  /** `leave`: of a command that only looks on (`wait`, `logs -f`) a signal and the time-out end the looking on, not the run. */
  readonly asks?: 'stop' | 'leave';
  /** What takes the run up again, to be typed: `cnab resume app`; undefined while there is no run. */
  readonly resume?: () => string | undefined;
  /** What a bundle gets to end by itself, in milliseconds; undefined while none can be running, and where it is not known. */
  readonly grace?: () => number | undefined;
  /** The orderly end begins; the line says so. No `signal`: it is the time-out. */
  readonly onStop: (line: string, reason: StopReason, signal?: Signal) => void;
  /** A second Ctrl-C: leave at once. The line says what becomes of the run. */
  readonly onLeave: (line: string) => void;
}

/**
 * SIGINT, SIGTERM and the time-out each begin the orderly stop; only a second SIGINT from a terminal leaves at once.
 * SIGHUP, a terminal that was closed, is nobody's wish to end a run: it goes on without us.
 * The process keeps listening until it ends: a signal that comes while the end is being written must not cut it off.
 */
export function stopSignals(source: SignalSource, options: StopOptions): StopSignals {
  const controller = new AbortController();
  const { fromTerminal, asks = 'stop', onStop, onLeave } = options;
  let interrupts = 0;
  const end = (reason: StopReason, line: string, signal?: Signal): void => {
    if (controller.signal.aborted) return;
    onStop(line, reason, signal);
    controller.abort(reason);
  };
  const stopping = (): string => {
    const ms = options.grace?.();
    return `stopping the run${ms === undefined ? '' : `; the bundle has ${spanText(ms)} to end`}`;
  };
  const leave = (word: string, signal?: Signal): void => {
    const command = options.resume?.();
    const goesOn = command === undefined ? '' : `; the run goes on: ${command}`;
    end({ kind: 'leave' }, `${word}${goesOn}`, signal);
  };
  const leaveAtOnce = (): void => {
    const command = options.resume?.();
    onLeave(`left at once${command === undefined ? '' : `; the run is not settled yet: ${command}`}`);
  };
  source.on('SIGINT', () => {
    interrupts++;
    if (interrupts > 1 && fromTerminal) return leaveAtOnce();
    if (asks === 'leave') return leave('interrupted', 'SIGINT');
    const again = fromTerminal ? ' (Ctrl-C again leaves at once)' : '';
    end({ kind: 'signal', signal: 'SIGINT' }, `interrupted: ${stopping()}${again}`, 'SIGINT');
  });
  source.on('SIGTERM', () => {
    if (asks === 'leave') return leave('terminated', 'SIGTERM');
    end({ kind: 'signal', signal: 'SIGTERM' }, `terminated: ${stopping()}`, 'SIGTERM');
  });
  source.on('SIGHUP', () => leave('the terminal is gone', 'SIGHUP'));
  return {
    signal: controller.signal,
    startTimer: (ms, clock) => {
      const timer = new AbortController();
      if (ms > 0) {
        clock.sleep(ms, timer.signal).then(
          () =>
            asks === 'leave'
              ? end({ kind: 'leave' }, `the time to wait of ${durationText(ms)} is over; the run goes on`)
              : end({ kind: 'timeout' }, `the time-out of ${durationText(ms)} is over: ${stopping()}`),
          () => undefined,
        );
      }
      return () => timer.abort();
    },
  };
}
