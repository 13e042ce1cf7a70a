import type { Json } from './bundle.js';
import type { Finding, Place } from './problem.js';

/** A problem of the text itself. */
export interface TextProblem extends Place {
  readonly message: string;
}

/** A text that was read as a document, or what keeps it from being one. */
export type ParsedDocument =
  | { readonly kind: 'broken'; readonly problems: readonly TextProblem[] }
  | {
      readonly kind: 'parsed';
      readonly document: Json;
      /** Number of values in the document, itself included. */
      readonly values: number;
      /** What the text holds and the document no longer shows: keys written twice, digits that were lost. */
      readonly findings: readonly Finding[];
      /** Finds where each finding stands. */
      readonly locate: (findings: readonly Finding[]) => Promise<readonly Place[]>;
    };

export interface Measure {
  readonly values: number;
  readonly members: number;
}

/** Counts values and members of a document. */
export function measure(document: Json): Measure {
  let values = 0;
  let members = 0;
  const pending: Json[] = [document];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    values++;
    if (value === null || typeof value !== 'object') continue;
    const isList = Array.isArray(value);
    const parts: readonly Json[] = Object.values(value);
    for (const inner of parts) {
      if (!isList) members++;
      pending.push(inner);
    }
  }
  return { values, members };
}
