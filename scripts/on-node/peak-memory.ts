import { readFileSync } from 'node:fs';

const EVERY_MS = 50;

/** Watches VmHWM, the most that a process has had in memory; `stop` gives the last value in bytes. It only grows, so nothing is missed but the last 50 ms. */
export function watchPeakMemory(pid: number): { stop: () => number } {
  let peak = 0;
  const look = (): void => {
    try {
      const kib = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      if (kib !== undefined) peak = Number(kib) * 1024;
    } catch {
      // It has ended.
    }
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return peak;
    },
  };
}
