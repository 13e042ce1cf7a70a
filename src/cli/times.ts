/** `2026-11-30 09:15:02Z` of an RFC 3339 time; as it is where it is none. */
export function timeText(time: string | undefined): string {
  if (time === undefined) return '';
  const at = new Date(time);
  return Number.isNaN(at.getTime())
    ? time
    : at
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z');
}

/** How long ago, in the largest unit that fits: `12s ago`, `3d ago`; the time itself when it lies ahead of the clock. */
export function ageText(time: string | undefined, now: number): string {
  const at = time === undefined ? NaN : new Date(time).getTime();
  if (Number.isNaN(at) || at > now + 60_000) return timeText(time);
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ago`;
  return `${Math.floor(seconds / 86_400)}d ago`;
}

/** Milliseconds between two RFC 3339 times; undefined where one is missing or none. */
export function millisecondsBetween(from: string | undefined, to: string | undefined): number | undefined {
  const span = from === undefined || to === undefined ? NaN : new Date(to).getTime() - new Date(from).getTime();
  return Number.isNaN(span) ? undefined : Math.max(0, span);
}

/** `14:05:10`, on the clock of this machine. */
export function clockText(ms: number): string {
  const at = new Date(ms);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');
}
