import { readFileSync } from 'node:fs';

/**
 * Milliseconds since 1970 of a moment that a container has read from /proc/uptime, in seconds: the one clock that it shares with this
 * machine to a hundredth of a second. busybox's date knows whole seconds only.
 */
export function atUptime(seconds: number): number {
  const now = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
  return Date.now() - (now - seconds) * 1000;
}
