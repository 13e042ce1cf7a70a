import { isUtf8 } from 'node:buffer';

/** A document's bytes as text, or why they are none. */
export interface DecodedText {
  readonly text: string;
  /** Absent when the bytes are clean UTF-8. `offset` is in UTF-16 code units of `text`. */
  readonly problem?: { readonly message: string; readonly offset: number; readonly readable: boolean };
}

const BYTE_ORDER_MARK = '\uFEFF';

/** Decodes UTF-8 strictly. After a byte order mark the rest is `readable` and can still be checked. */
export function decodeText(source: Uint8Array): DecodedText {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(source);
  if (isUtf8(source)) {
    if (!text.startsWith(BYTE_ORDER_MARK)) return { text };
    // A space in its place keeps every later column right.
    const message = 'the file begins with a byte order mark: save it as UTF-8 without one';
    return { text: ` ${text.slice(1)}`, problem: { message, offset: 0, readable: true } };
  }
  if (looksLikeUtf16(source)) {
    return { text, problem: { message: 'the file is UTF-16: save it as UTF-8', offset: 0, readable: false } };
  }
  const { offset, byte } = firstBadByte(source, text);
  const shown = `0x${(source[byte] ?? 0).toString(16).padStart(2, '0')}`;
  const message = `the file is not UTF-8 text: byte ${byte + 1} (${shown}) belongs to no character`;
  return { text, problem: { message, offset, readable: false } };
}

function looksLikeUtf16(source: Uint8Array): boolean {
  const [first, second] = source;
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

/** The decoder writes U+FFFD for bad bytes; the first that is not spelled out in the source is the place. */
function firstBadByte(source: Uint8Array, text: string): { offset: number; byte: number } {
  let byte = 0;
  let from = 0;
  for (;;) {
    const offset = text.indexOf('\uFFFD', from);
    if (offset < 0) return { offset: text.length, byte: source.length };
    byte += Buffer.byteLength(text.slice(from, offset), 'utf8');
    const spelledOut = source[byte] === 0xef && source[byte + 1] === 0xbf && source[byte + 2] === 0xbd;
    if (!spelledOut) return { offset, byte };
    byte += 3;
    from = offset + 1;
  }
}
