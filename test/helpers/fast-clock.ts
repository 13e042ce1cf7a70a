import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../src/driver/clock.js';

/** A clock by which `factor` seconds pass in each real one: for waits that several parties must see pass alike. */
export function fastClock(factor: number): Clock {
  const began = Date.now();
  return {
    now: () => began + (Date.now() - began) * factor,
    sleep: (ms, signal) => delay(ms / factor, undefined, signal === undefined ? {} : { signal }),
  };
}
