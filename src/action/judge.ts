import { open, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { appliesTo, isSensitive, type Bundle, type Definition } from '../bundle/bundle.js';
import { checkOutput, definitionType, outputDefault, outputWarning, typedOutput } from '../bundle/outputs.js';
import { own } from '../bundle/own.js';
import type { CollectedOutput, OperationResult } from '../driver/driver.js';
import type { OutputSummary } from './request.js';

/** Above this an output is kept but its text is not checked against its definition: checking holds it in memory. */
const LARGEST_CHECKED = 16 * 1024 * 1024;
/** Above this a value is read with `cnab outputs show`, not from a JSON document. */
const LARGEST_VALUE = 64 * 1024;

/** An output that goes into the record. */
export interface KeptOutput extends CollectedOutput {
  readonly byBundle: boolean;
}

export interface JudgedOutputs {
  readonly kept: readonly KeptOutput[];
  readonly summaries: readonly OutputSummary[];
  /** Each one sentence: what is missing, lost or invalid. Empty after a run that did not succeed, which owes nothing. */
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Decides what a run's outputs are worth (spec 101, decisions 11, 12 and 14 of the reference): after exit code 0 every
 * output that applies must be there, be whole and fit its definition, and a default stands in for a missing one. After a
 * failed run what was produced is kept as it is.
 */
export async function judgeOutputs(
  bundle: Bundle,
  action: string,
  result: Pick<OperationResult, 'status' | 'outputs' | 'problems'>,
  staging: string,
): Promise<JudgedOutputs> {
  const succeeded = result.status === 'succeeded';
  const kept: KeptOutput[] = [];
  const summaries: OutputSummary[] = [];
  const failures: string[] = [];
  const warnings: string[] = [];
  for (const [index, [name, output]] of Object.entries(bundle.outputs ?? {}).entries()) {
    if (!appliesTo(output, action)) continue;
    const definition = own(bundle.definitions, output.definition) ?? true;
    const sensitive = isSensitive(bundle, output.definition);
    const collected = result.outputs.find((candidate) => candidate.name === name);
    const problem = result.problems.find((candidate) => candidate.name === name);
    if (collected === undefined) {
      const byDefault =
        succeeded && (problem === undefined || problem.kind === 'missing') ? outputDefault(definition) : undefined;
      if (byDefault === undefined) {
        const reason = problem === undefined || problem.kind === 'missing' ? 'was not written' : problem.reason;
        (succeeded || (problem !== undefined && problem.kind !== 'missing') ? failures : []).push(
          `output "${name}" (${output.path}): ${reason}`,
        );
        continue;
      }
      const stored = await storeDefault(name, byDefault, path.join(staging, `default-${index}`));
      kept.push({ ...stored, byBundle: false });
      summaries.push({ ...(await summarize(definition, sensitive, stored)), isDefault: true });
      continue;
    }
    kept.push({ ...collected, byBundle: true });
    summaries.push(await summarize(definition, sensitive, collected));
    if (!succeeded) continue;
    if (collected.size > LARGEST_CHECKED) {
      warnings.push(`output "${name}" is larger than 16 MiB: it is stored without a check against its definition.`);
      continue;
    }
    const bytes = await readFile(collected.file);
    const invalid = await checkOutput(definition, bytes);
    const odd = outputWarning(definition, bytes);
    if (odd !== undefined) warnings.push(`output "${name}" ${odd}.`);
    if (invalid !== undefined)
      failures.push(`output "${name}": ${sensitive ? 'does not fit its definition' : invalid}`);
  }
  return { kept, summaries, failures, warnings };
}

async function storeDefault(name: string, bytes: Uint8Array, file: string): Promise<CollectedOutput> {
  await writeFile(file, bytes, { flag: 'wx', mode: 0o600 });
  const handle = await open(file);
  await handle.sync().finally(() => handle.close());
  return { name, file, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

async function summarize(definition: Definition, sensitive: boolean, output: CollectedOutput): Promise<OutputSummary> {
  const { name, size, sha256 } = output;
  const value = sensitive || size > LARGEST_VALUE ? undefined : typedOutput(definition, await readFile(output.file));
  return { name, type: definitionType(definition), size, sha256, sensitive, ...(value === undefined ? {} : { value }) };
}
