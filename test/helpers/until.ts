import { setTimeout as delay } from 'node:timers/promises';

/** Polls until it holds, for what others do in their own time. Rejects with `what` when the time is over. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await holds())) {
    if (Date.now() >= end) throw new Error(`not within ${seconds} s: ${what}`);
    await delay(20);
  }
}
