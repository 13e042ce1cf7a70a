import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../src/driver/clock.js';

export interface WarpClock extends Clock {
  /** Seconds of this clock in a real one; who sleeps already sleeps by the new one, too. */
  speed: number;
}

export function warpClock(speed: number): WarpClock {
  let now = Date.now();
  let seen = performance.now();
  const clock: WarpClock = {
    speed,
    now: () => {
      const real = performance.now();
      now += (real - seen) * clock.speed;
      seen = real;
      return now;
    },
    sleep: async (ms, signal) => {
      const end = clock.now() + ms;
      while (clock.now() < end) await delay(5, undefined, signal === undefined ? {} : { signal });
    },
  };
  return clock;
}
