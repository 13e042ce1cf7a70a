import { setTimeout as delay } from 'node:timers/promises';

/** Asks until the answer is neither undefined nor false; rejects with `what` and the last error when the time is over. */
export async function eventually<T>(
  what: string,
  seconds: number,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    let last = '';
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      last = `: ${String(error)}`;
    }
    if (Date.now() >= end) throw new Error(`${what}: not after ${seconds} s${last}`);
    await delay(100);
  }
}
