/** A point of time as the kubelet writes it before each line of a log, to the nanosecond. */
export interface LogTimestamp {
  /** Whole seconds since the epoch. */
  readonly seconds: number;
  readonly nanos: number;
}

/** `2026-11-30T23:05:06.451526067+02:00` and the blank behind it. */
export const LONGEST_PREFIX = 36;

const ZERO = 48;

/**
 * Reads the prefix of a line: RFC 3339 with a fraction and one blank (kubelet: `RFC3339NanoFixed`; nodes that are not
 * on UTC write their offset).
 *
 * @returns `length` counts the blank; `partial`: what is there could be the beginning of one; undefined: it is none.
 */
export function readPrefix(
  line: Uint8Array,
): { readonly at: LogTimestamp; readonly length: number } | 'partial' | undefined {
  for (let i = 0; i < 20; i++) {
    const byte = line[i];
    if (byte === undefined) return 'partial';
    if (i === 19) {
      if (byte !== 46) return undefined;
    } else if (SHAPE.charCodeAt(i) !== ZERO) {
      if (byte !== SHAPE.charCodeAt(i)) return undefined;
    } else if (byte < ZERO || byte > 57) return undefined;
  }
  let at = 20;
  let nanos = 0;
  let digits = 0;
  for (; digits < 10; digits++, at++) {
    const digit = (line[at] ?? -1) - ZERO;
    if (digit < 0 || digit > 9) break;
    if (digits < 9) nanos = nanos * 10 + digit;
  }
  if (line[at] === undefined && at < LONGEST_PREFIX) return 'partial';
  if (digits === 0 || digits > 9) return undefined;
  nanos *= 10 ** (9 - digits);
  const zone = readZone(line, at);
  if (zone === 'partial' || zone === undefined) return zone;
  const blank = line[at + zone.length];
  if (blank === undefined) return 'partial';
  if (blank !== 32) return undefined;
  const utc = Date.UTC(
    number(line, 0, 4),
    number(line, 5, 2) - 1,
    number(line, 8, 2),
    number(line, 11, 2),
    number(line, 14, 2),
    number(line, 17, 2),
  );
  return { at: { seconds: utc / 1000 - zone.minutes * 60, nanos }, length: at + zone.length + 1 };
}

const SHAPE = '0000-00-00T00:00:00';

function readZone(line: Uint8Array, at: number): { length: number; minutes: number } | 'partial' | undefined {
  const sign = line[at];
  if (sign === 90) return { length: 1, minutes: 0 };
  if (sign !== 43 && sign !== 45) return undefined;
  for (let i = 1; i < 6; i++) {
    const byte = line[at + i];
    if (byte === undefined) return 'partial';
    if (i === 3 ? byte !== 58 : byte < ZERO || byte > 57) return undefined;
  }
  const minutes = number(line, at + 1, 2) * 60 + number(line, at + 4, 2);
  return { length: 6, minutes: sign === 43 ? minutes : -minutes };
}

function number(bytes: Uint8Array, from: number, digits: number): number {
  let value = 0;
  for (let i = from; i < from + digits; i++) value = value * 10 + ((bytes[i] ?? ZERO) - ZERO);
  return value;
}

/** Negative, 0 or positive, as for `sort`. */
export function compareTimestamps(a: LogTimestamp, b: LogTimestamp): number {
  return a.seconds - b.seconds || a.nanos - b.nanos;
}
