import { CnabError } from '../errors.js';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const LONGEST = 2 ** 31 - 1;

/**
 * Milliseconds of a duration as Go writes it: `90s`, `1h30m`, `1.5h`, `250ms`, `0`.
 * Throws CnabError `invalid`; a number without a unit is refused with both its readings, since Helm's users
 * mean seconds and others minutes.
 */
export function parseDuration(text: string, flag: string): number {
  if (/^0+$/.test(text)) return 0;
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    throw new CnabError('invalid', `${flag} ${text} has no unit: write ${text}s for seconds or ${text}m for minutes`);
  }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?|\.\d+)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map((part) => part[0]).join('') !== text) {
    throw new CnabError('invalid', `${flag} ${JSON.stringify(text)} is not a duration: write it like 90s, 5m or 1h30m`);
  }
  const total = Math.round(parts.reduce((sum, part) => sum + Number(part[1]) * (UNITS[part[2] ?? ''] ?? 0), 0));
  // Node's timers overflow above 2^31-1 ms and then fire at once.
  if (total > LONGEST) throw new CnabError('invalid', `${flag} ${text} is longer than the limit of 596h`);
  return total;
}

/** For people: `0.8s`, `12s`, `3m05s`, `2h00m`. */
export function durationText(ms: number): string {
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const pad = (n: number): string => String(n).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h${pad(Math.floor((seconds % 3600) / 60))}m`;
}

/** For people, where a second more or less says nothing: `9s`, `10m`, `1h05m`. */
export function spanText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)}h${rest === 0 ? '' : `${String(rest).padStart(2, '0')}m`}`;
}
