import type { Clock } from '../driver/clock.js';
import type { StopReason } from '../driver/driver.js';
import { durationText } from './durations.js';

/** Where signals come from: `process`, or an event emitter in a test. */
export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

export interface StopSignals {
  /** Aborted once, by the first signal or the time-out, with a `StopReason`. */
  readonly signal: AbortSignal;
  /** Begins the orderly stop after `ms`; 0: never. Gives what ends the timer. */
  startTimer(ms: number, clock: Clock): () => void;
}

export interface StopOptions {
  /** True where SIGINT is a person's Ctrl-C; a CI system sends SIGTERM right after SIGINT, which must not cut the stop short. */
  readonly fromTerminal: boolean;
  /** The orderly stop begins; the line says so. */
  readonly onStop: (line: string, reason: StopReason) => void;
  /** A second Ctrl-C: leave at once. */
  readonly onLeave: () => void;
}

/**
 * SIGINT, SIGTERM and the time-out each begin the orderly stop; only a second SIGINT from a terminal leaves at once.
 * The process keeps listening until it ends: a signal that comes while the end is being written must not cut it off.
 */
export function stopSignals(source: SignalSource, options: StopOptions): StopSignals {
  const controller = new AbortController();
  let interrupts = 0;
  const stop = (reason: StopReason, line: string): void => {
    if (controller.signal.aborted) return;
    options.onStop(line, reason);
    controller.abort(reason);
  };
  source.on('SIGINT', () => {
    interrupts++;
    if (interrupts > 1 && options.fromTerminal) return options.onLeave();
    const leave = options.fromTerminal ? ' (Ctrl-C again leaves at once)' : '';
    stop({ kind: 'signal', signal: 'SIGINT' }, `interrupted: stopping the run${leave}`);
  });
  source.on('SIGTERM', () => stop({ kind: 'signal', signal: 'SIGTERM' }, 'terminated: stopping the run'));
  return {
    signal: controller.signal,
    startTimer: (ms, clock) => {
      const timer = new AbortController();
      if (ms > 0) {
        clock.sleep(ms, timer.signal).then(
          () => stop({ kind: 'timeout' }, `the time-out of ${durationText(ms)} is over: stopping the run`),
          () => undefined,
        );
      }
      return () => timer.abort();
    },
  };
}
