import { readFile } from 'node:fs/promises';
import { isTold, summaryOf } from '../../action/output-summary.js';
import { definitionOf } from '../../bundle/bundle.js';
import { own } from '../../bundle/own.js';
import type { TargetClaims } from '../../claim/claim-store.js';
import { LOGS_OUTPUT } from '../../claim/claim.js';
import { onDisk } from '../../claim/disk-error.js';
import type { ProducedOutput } from '../../claim/status.js';
import { CnabError } from '../../errors.js';
import type { ListedOutput } from '../views/outputs.js';

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
  const declared = own(claim.bundle.outputs, name);
  const definition = declared === undefined ? true : definitionOf(claim.bundle, declared.definition);
  const sha256 = metadata.contentDigest?.replace(/^sha256:/, '');
  const atHand = { name, definition, sensitive, size: stored.size, ...(sha256 === undefined ? {} : { sha256 }) };
  return {
    ...summaryOf(atHand, isTold(atHand) ? await readFile(stored.file) : undefined),
    ...(metadata.generatedByBundle === 'false' ? { isDefault: true } : {}),
    runId: claim.id,
    action: claim.action,
    created: result.created,
  };
}
