import { readFile } from 'node:fs/promises';
import type { Definition } from '../../bundle/bundle.js';
import { definitionType, typedOutput } from '../../bundle/outputs.js';
import type { TargetClaims } from '../../claim/claim-store.js';
import { LOGS_OUTPUT } from '../../claim/claim.js';
import { onDisk } from '../../claim/disk-error.js';
import type { ProducedOutput } from '../../claim/status.js';
import { CnabError } from '../../errors.js';
import type { ListedOutput } from '../views/outputs.js';

/** Above this a value is read with `outputs show`, not from a list. */
const LARGEST_VALUE = 64 * 1024;

export interface ListedOutputs {
  readonly outputs: readonly ListedOutput[];
  /** Each a sentence: outputs that are left out because their files cannot be read. */
  readonly problems: readonly string[];
}

/** What a list says of stored outputs; one whose file is gone is left out, and so is the log, which has its command. */
export async function listOutputs(claims: TargetClaims, produced: readonly ProducedOutput[]): Promise<ListedOutputs> {
  const problems: string[] = [];
  const outputs: ListedOutput[] = [];
  for (const output of produced.filter(({ name }) => name !== LOGS_OUTPUT)) {
    try {
      const listed = await onDisk('read', `output ${JSON.stringify(output.name)}`, () => listOutput(claims, output));
      if (listed !== undefined) outputs.push(listed);
    } catch (error) {
      if (!(error instanceof CnabError)) throw error;
      problems.push(error.message);
    }
  }
  return { outputs, problems };
}

async function listOutput(claims: TargetClaims, output: ProducedOutput): Promise<ListedOutput | undefined> {
  const { name, claim, result, sensitive, metadata } = output;
  const stored = await claims.output(result.id, name);
  if (stored === undefined) return undefined;
  const definition = definitionOf(output);
  const value =
    sensitive || stored.size > LARGEST_VALUE ? undefined : typedOutput(definition, await readFile(stored.file));
  return {
    name,
    type: definitionType(definition),
    size: stored.size,
    sha256: (metadata.contentDigest ?? '').replace(/^sha256:/, ''),
    sensitive,
    ...(metadata.generatedByBundle === 'false' ? { isDefault: true } : {}),
    ...(value === undefined ? {} : { value }),
    runId: claim.id,
    action: claim.action,
    created: result.created,
  };
}

function definitionOf({ claim, name }: ProducedOutput): Definition {
  const { outputs, definitions } = claim.bundle;
  const definition = outputs !== undefined && Object.hasOwn(outputs, name) ? outputs[name]?.definition : undefined;
  if (definition === undefined || definitions === undefined || !Object.hasOwn(definitions, definition)) return true;
  return definitions[definition] ?? true;
}
