const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 26;
const TIME_LENGTH = 10;
const MAX_TIME = 2 ** 48 - 1;
const RANDOM_BYTES = 10;

/**
 * A ULID: 48 bits of time and 80 of randomness as 26 characters of Crockford's base 32, the first one 0–7.
 * A time outside 0 … 2^48 − 1 is clamped: a broken clock must not stop a run.
 */
export function formatUlid(time: number, random: Uint8Array): string {
  let left = Number.isFinite(time) ? Math.min(Math.max(Math.floor(time), 0), MAX_TIME) : 0;
  let head = '';
  for (let digit = 0; digit < TIME_LENGTH; digit += 1) {
    head = ALPHABET.charAt(left % 32) + head;
    left = Math.floor(left / 32);
  }
  let bits = 0n;
  for (let at = 0; at < RANDOM_BYTES; at += 1) bits = (bits << 8n) | BigInt(random[at] ?? 0);
  let tail = '';
  for (let digit = TIME_LENGTH; digit < LENGTH; digit += 1) {
    tail = ALPHABET.charAt(Number(bits & 31n)) + tail;
    bits >>= 5n;
  }
  return head + tail;
}

/** The time in a ULID, in milliseconds since 1970; undefined for what is none in its canonical form. */
export function timeOfUlid(text: string): number | undefined {
  if (text.length !== LENGTH || ![...text].every((char, at) => digitsAt(at).includes(char))) return undefined;
  return [...text.slice(0, TIME_LENGTH)].reduce((time, char) => time * 32 + ALPHABET.indexOf(char), 0);
}

/**
 * The smallest ULID that sorts after `text` by plain string comparison; for a ULID that is itself plus one.
 * `text` is opaque: stores hold ids that no ULID parser accepts (Porter's fixture has a hand-edited one).
 * Undefined where nothing can follow (`7ZZZ…`, or a text that starts beyond `7`).
 */
export function ulidAfter(text: string): string | undefined {
  for (let at = 0; at < LENGTH; at += 1) {
    const char = text[at];
    const zeros = '0'.repeat(LENGTH - at);
    if (char === undefined) return text + zeros;
    if (digitsAt(at).includes(char)) continue;
    const greater = [...digitsAt(at)].find((digit) => digit > char);
    if (greater !== undefined) return text.slice(0, at) + greater + zeros.slice(1);
    const prefix = increment(text.slice(0, at));
    return prefix === undefined ? undefined : prefix + zeros;
  }
  return increment(text.slice(0, LENGTH));
}

/** A new ULID, greater than `floor`. Undefined where none can be (see `ulidAfter`). */
export function newUlid(time: number, random: Uint8Array, floor = ''): string | undefined {
  const id = formatUlid(time, random);
  return id > floor ? id : ulidAfter(floor);
}

function digitsAt(position: number): string {
  return position === 0 ? ALPHABET.slice(0, 8) : ALPHABET;
}

/** Adds one to the last digit and carries; undefined on overflow. */
function increment(digits: string): string | undefined {
  for (let at = digits.length - 1; at >= 0; at -= 1) {
    const next = digitsAt(at)[ALPHABET.indexOf(digits.charAt(at)) + 1];
    if (next !== undefined) return digits.slice(0, at) + next + '0'.repeat(digits.length - at - 1);
  }
  return undefined;
}
