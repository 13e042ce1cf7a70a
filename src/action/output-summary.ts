import type { Definition } from '../bundle/bundle.js';
import { definitionType, typedOutput } from '../bundle/outputs.js';
import type { OutputSummary } from './request.js';

/** Above this a value is read with `cnab outputs show`, not from a document or a list. */
const LARGEST_VALUE = 64 * 1024;

/** What is known of an output that is stored. */
export interface OutputAtHand {
  readonly name: string;
  readonly definition: Definition;
  readonly sensitive: boolean;
  readonly size: number;
  /** 64 hex digits; absent where the record does not say. */
  readonly sha256?: string;
}

/** True where the summary holds the value, as far as it is text or JSON. */
export function isTold({ sensitive, size }: Pick<OutputAtHand, 'sensitive' | 'size'>): boolean {
  return !sensitive && size <= LARGEST_VALUE;
}

/**
 * What commands print of an output. Of a sensitive one neither value nor digest: documents stand in the logs of CI systems,
 * and the sha256 of a short secret tells it to whoever tries all that are short.
 */
export function summaryOf(output: OutputAtHand, bytes: Uint8Array | undefined): OutputSummary {
  const { name, definition, size, sha256, sensitive } = output;
  const value = bytes !== undefined && isTold(output) ? typedOutput(definition, bytes) : undefined;
  return {
    name,
    type: definitionType(definition),
    size,
    sensitive,
    ...(sha256 === undefined || sensitive ? {} : { sha256 }),
    ...(value === undefined ? {} : { value }),
  };
}
