import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/driver/clock.js';

interface Sleep {
  readonly ms: number;
  readonly wake: () => void;
}

/**
 * A clock that moves by itself over short pauses (up to `skipMs`) and stands still for longer ones until `pass` is
 * called, so that back-offs cost nothing and time-outs come when a test wants them.
 */
export class ManualClock implements Clock {
  /** Every pause that was asked for, in order. */
  readonly asked: number[] = [];
  private time = Date.UTC(2026, 10, 30);
  private readonly sleeping = new Set<Sleep>();

  constructor(private readonly skipMs: number) {}

  now(): number {
    return this.time;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.asked.push(ms);
    return new Promise((resolve, reject) => {
      const sleep: Sleep = { ms, wake: () => settle(resolve) };
      const onAbort = (): void => settle(() => reject(Object.assign(new Error('aborted'), { name: 'AbortError' })));
      const settle = (end: () => void): void => {
        this.sleeping.delete(sleep);
        signal?.removeEventListener('abort', onAbort);
        end();
      };
      if (signal?.aborted === true) return onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.sleeping.add(sleep);
      if (ms <= this.skipMs) setImmediate(() => this.sleeping.has(sleep) && this.pass(sleep));
    });
  }

  /** Waits (real time) until somebody sleeps for exactly `ms`, and lets that time pass. */
  async elapse(ms: number): Promise<void> {
    while (!this.tryElapse(ms)) await turn();
  }

  /** False when nobody sleeps for exactly `ms`. */
  tryElapse(ms: number): boolean {
    for (const sleep of this.sleeping) {
      if (sleep.ms !== ms) continue;
      this.pass(sleep);
      return true;
    }
    return false;
  }

  private pass(sleep: Sleep): void {
    this.time += sleep.ms;
    sleep.wake();
  }
}
