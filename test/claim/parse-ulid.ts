const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Milliseconds since the epoch, and 10 bytes. Undefined for anything that is not a ULID in its canonical form. */
export function parseUlid(text: string): { readonly time: number; readonly random: Uint8Array } | undefined {
  if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/u.test(text)) return undefined;
  const value = [...text].reduce((sum, char) => (sum << 5n) | BigInt(ALPHABET.indexOf(char)), 0n);
  const hex = value.toString(16).padStart(32, '0');
  return { time: Number.parseInt(hex.slice(0, 12), 16), random: Uint8Array.from(Buffer.from(hex.slice(12), 'hex')) };
}
