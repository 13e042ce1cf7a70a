import type { Clock } from '../driver/clock.js';
import type { StopReason } from '../driver/driver.js';
import { durationText } from './durations.js';

/** Where signals come from: `process`, or an event emitter in a test. */
export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

export interface StopSignals {
  /** Aborted once, by the first signal or the time-out, with a `StopReason`. */
  readonly signal: AbortSignal;
  /** Gives the signals back to the process's own behaviour and ends the timer. */
  dispose(): void;
}

export interface StopOptions {
  readonly clock: Clock;
  /** 0: none. */
  readonly timeoutMs: number;
  /** True where SIGINT is a person's Ctrl-C; a CI system sends SIGTERM right after SIGINT, which must not cut the stop short. */
  readonly fromTerminal: boolean;
  /** The orderly stop begins; the line says so. */
  readonly onStop: (line: string, reason: StopReason) => void;
  /** A second Ctrl-C: leave at once. */
  readonly onLeave: () => void;
}

/** SIGINT, SIGTERM and the time-out each begin the orderly stop; only a second SIGINT from a terminal leaves at once. */
export function stopSignals(source: SignalSource, options: StopOptions): StopSignals {
  const controller = new AbortController();
  const timer = new AbortController();
  let interrupts = 0;
  const stop = (reason: StopReason, line: string): void => {
    if (controller.signal.aborted) return;
    options.onStop(line, reason);
    controller.abort(reason);
  };
  const onInterrupt = (): void => {
    interrupts++;
    if (interrupts > 1 && options.fromTerminal) return options.onLeave();
    const leave = options.fromTerminal ? ' (Ctrl-C again leaves at once)' : '';
    stop({ kind: 'signal', signal: 'SIGINT' }, `interrupted: stopping the run${leave}`);
  };
  const onTerminate = (): void => stop({ kind: 'signal', signal: 'SIGTERM' }, 'terminated: stopping the run');
  source.on('SIGINT', onInterrupt);
  source.on('SIGTERM', onTerminate);
  if (options.timeoutMs > 0) {
    options.clock.sleep(options.timeoutMs, timer.signal).then(
      () => stop({ kind: 'timeout' }, `the time-out of ${durationText(options.timeoutMs)} is over: stopping the run`),
      () => undefined,
    );
  }
  return {
    signal: controller.signal,
    dispose: () => {
      timer.abort();
      source.off('SIGINT', onInterrupt);
      source.off('SIGTERM', onTerminate);
    },
  };
}
