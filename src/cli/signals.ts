import type { StopReason } from '../driver/driver.js';

/** Where signals come from: `process`, or an event emitter in a test. */
export interface SignalSource {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

export interface StopSignals {
  /** Aborted by the first signal, with a `StopReason`. */
  readonly signal: AbortSignal;
  /** Gives the signals back to the process's own behaviour. */
  dispose(): void;
}

export interface StopOptions {
  /** True where SIGINT is a person's Ctrl-C; a CI system sends SIGTERM right after SIGINT, which must not cut the stop short. */
  readonly fromTerminal: boolean;
  /** The orderly stop begins. */
  readonly onStop: (reason: StopReason) => void;
  /** A second Ctrl-C: leave at once. */
  readonly onLeave: () => void;
}

/** SIGINT and SIGTERM each begin the orderly stop; only a second SIGINT from a terminal leaves at once. */
export function stopSignals(source: SignalSource, options: StopOptions): StopSignals {
  const controller = new AbortController();
  let interrupts = 0;
  const stop = (signal: 'SIGINT' | 'SIGTERM'): void => {
    if (controller.signal.aborted) return;
    const reason: StopReason = { kind: 'signal', signal };
    options.onStop(reason);
    controller.abort(reason);
  };
  const onInterrupt = (): void => {
    interrupts++;
    if (interrupts > 1 && options.fromTerminal) options.onLeave();
    else stop('SIGINT');
  };
  const onTerminate = (): void => stop('SIGTERM');
  source.on('SIGINT', onInterrupt);
  source.on('SIGTERM', onTerminate);
  return {
    signal: controller.signal,
    dispose: () => {
      source.off('SIGINT', onInterrupt);
      source.off('SIGTERM', onTerminate);
    },
  };
}
