import { createHash } from 'node:crypto';

/** Longest file name made here, in bytes; leaves room for a ULID prefix and `.json` within the usual 255. */
const MAX_BYTES = 200;
const HASH_MARK = '~';
const EMPTY = '~empty';

/**
 * A file name for any string: letters, digits, `.`, `_` and `-` stay, every other byte of its UTF-8 form becomes `%XX`.
 * A leading dot or dash is encoded too, so a name is never hidden, never `..`, and never taken for an option.
 *
 * A name whose encoding is longer than 200 bytes is cut and gets `~` and its SHA-256; `~` comes from nothing else,
 * so two names never share a file name. Lone surrogates (JSON can hold them) keep apart as well.
 */
export function encodeFileName(name: string): string {
  if (name === '') return EMPTY;
  const encoded = percentEncode(name);
  return encoded.length <= MAX_BYTES ? encoded : hashedFileName(name);
}

/** The form with the hash, whatever the length: for names that differ in nothing but case. */
export function hashedFileName(name: string): string {
  const hash = createHash('sha256').update(wtf8(name)).digest('hex');
  const head = percentEncode(name)
    .slice(0, MAX_BYTES - hash.length - 1)
    .replace(/%.?$/u, '');
  return `${head}${HASH_MARK}${hash}`;
}

/** The name that a file name stands for; undefined where it was cut, or was not made by `encodeFileName`. */
export function decodeFileName(fileName: string): string | undefined {
  if (fileName === EMPTY) return '';
  if (!/^(?:[A-Za-z0-9._-]|%[0-9A-F]{2})+$/u.test(fileName)) return undefined;
  const bytes: number[] = [];
  for (let at = 0; at < fileName.length; at += 1) {
    if (fileName[at] === '%') {
      bytes.push(Number.parseInt(fileName.slice(at + 1, at + 3), 16));
      at += 2;
    } else {
      bytes.push(fileName.charCodeAt(at));
    }
  }
  const name = fromWtf8(Buffer.from(bytes));
  return name !== undefined && encodeFileName(name) === fileName ? name : undefined;
}

function percentEncode(name: string): string {
  let encoded = '';
  for (const byte of wtf8(name)) {
    const char = String.fromCharCode(byte);
    const plain = /[A-Za-z0-9_]/u.test(char) || (encoded !== '' && (char === '.' || char === '-'));
    encoded += plain ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

/** UTF-8, with a lone surrogate as the three bytes it would have (`Buffer.from` makes all of them U+FFFD). */
function wtf8(text: string): Buffer {
  const parts: Buffer[] = [];
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const lone = code >= 0xd800 && code <= 0xdfff;
    parts.push(lone ? Buffer.from([0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]) : Buffer.from(char));
  }
  return Buffer.concat(parts);
}

function fromWtf8(bytes: Buffer): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  let start = 0;
  try {
    for (let at = 0; at + 2 < bytes.length; at += 1) {
      const second = bytes[at + 1] ?? 0;
      if (bytes[at] !== 0xed || second < 0xa0) continue;
      text += decoder.decode(bytes.subarray(start, at));
      text += String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | ((bytes[at + 2] ?? 0) & 0x3f));
      at += 2;
      start = at + 1;
    }
    return text + decoder.decode(bytes.subarray(start));
  } catch {
    return undefined;
  }
}
