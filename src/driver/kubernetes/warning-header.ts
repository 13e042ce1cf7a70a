import { oneLine } from './network-error.js';

/**
 * The texts of `Warning: 299 - "text"` headers (RFC 7234 5.5, as the API server sends them; Node joins several with a comma).
 * What does not match that form is skipped.
 */
export function parseWarnings(header: string | string[] | undefined): readonly string[] {
  const text = Array.isArray(header) ? header.join(', ') : (header ?? '');
  const texts: string[] = [];
  for (const match of text.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
    texts.push(oneLine((match[1] ?? '').replace(/\\(.)/g, '$1')));
  }
  return [...new Set(texts)];
}
