import { CnabError } from '../errors.js';

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1000,
  kb: 1000,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  ki: 1024,
  kib: 1024,
  mi: 1024 ** 2,
  mib: 1024 ** 2,
  gi: 1024 ** 3,
  gib: 1024 ** 3,
};

/** Outputs that together are no larger travel in one pass and are there at once. */
export const SMALL_OUTPUTS_BYTES = 4_718_592;

/** Bytes of a size: `1GiB`, `500M`, `64Ki`, `4096`. Throws CnabError `invalid`. */
export function parseSize(text: string, flag: string): number {
  const match = /^(\d+(?:\.\d+)?) ?([A-Za-z]*)$/.exec(text);
  const unit = match ? UNITS[(match[2] ?? '').toLowerCase()] : undefined;
  if (!match || unit === undefined) {
    throw new CnabError('invalid', `${flag} ${JSON.stringify(text)} is not a size: write it like 64KiB, 500MB or 1GiB`);
  }
  const bytes = Math.floor(Number(match[1]) * unit);
  if (!Number.isSafeInteger(bytes)) throw new CnabError('invalid', `${flag} ${text} is too large`);
  return bytes;
}

/** For people: `17 B`, `1.5 KiB`, `12 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const names = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1024;
  let index = 0;
  while (value >= 1023.95 && index < names.length - 1) {
    value /= 1024;
    index++;
  }
  return `${value >= 100 ? value.toFixed(0) : Number(value.toFixed(1))} ${names[index]}`;
}
