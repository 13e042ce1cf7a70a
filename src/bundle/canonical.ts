import { createHash } from 'node:crypto';
import type { Json } from './bundle.js';

/**
 * Canonical JSON by RFC 8785: keys sorted by UTF-16 code units at every level, no white space, numbers as ECMAScript
 * prints them, no final newline. (Spec 104 links an older text without fractions; cnab-spec pull request 414 and all
 * published fixtures have RFC 8785.) Lone surrogates are written as `\udXXX` instead of failing, so every JSON value has
 * a canonical form. Built on the parsed value: integers beyond 2^53 have lost digits before they get here.
 *
 * @throws RangeError when nested deeper than the stack reaches; bundles are limited to 256 levels when they are read.
 */
export function canonical(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`);
  return `{${members.join(',')}}`;
}

/** `sha256:` and the hex digest of the canonical form's UTF-8 bytes. */
export function canonicalDigest(value: Json): string {
  return `sha256:${createHash('sha256').update(canonical(value), 'utf8').digest('hex')}`;
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}
