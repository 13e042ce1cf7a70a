import { open, readFile, unlink } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { appliesTo, definitionOf, isSensitive, type Bundle, type Definition } from '../bundle/bundle.js';
import { checkOutput, outputDefault, outputWarning } from '../bundle/outputs.js';
import type { CheckTime } from '../bundle/time-limit.js';
import { valueTime } from '../bundle/values.js';
import { ignoreMissing } from '../claim/disk-error.js';
import type { CollectedOutput, OperationResult } from '../driver/driver.js';
import { summaryOf } from './output-summary.js';
import type { OutputSummary } from './request.js';

/** Above this an output is kept but its text is not checked against its definition: checking holds it in memory. */
const LARGEST_CHECKED = 16 * 1024 * 1024;

/** An output that goes into the record. */
export interface KeptOutput extends CollectedOutput {
  readonly byBundle: boolean;
}

export interface JudgedOutputs {
  readonly kept: readonly KeptOutput[];
  readonly summaries: readonly OutputSummary[];
  /** Each one sentence: what is missing, lost or invalid. After a run that did not succeed only what was lost on the way. */
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
}

type RunResult = Pick<OperationResult, 'status' | 'outputs' | 'problems'>;

/** A declared output that applies to the action. */
interface Expected {
  readonly name: string;
  readonly path: string;
  readonly definition: Definition;
  readonly sensitive: boolean;
  /** Where its default is put, should it be needed. */
  readonly defaultFile: string;
}

/** What one output adds to JudgedOutputs. */
type Judgement = Partial<JudgedOutputs>;

/**
 * Decides what a run's outputs are worth (spec 101, decisions 11, 12 and 14 of the reference): after exit code 0 every
 * output that applies must be there, be whole and fit its definition, and a default stands in for a missing one. After a
 * failed run what was produced is kept as it is. Rejects with errno errors.
 */
export async function judgeOutputs(
  bundle: Bundle,
  action: string,
  result: RunResult,
  staging: string,
): Promise<JudgedOutputs> {
  const judgements: Judgement[] = [];
  const time = valueTime();
  for (const [index, [name, output]] of Object.entries(bundle.outputs ?? {}).entries()) {
    if (!appliesTo(output, action)) continue;
    const expected: Expected = {
      name,
      path: output.path,
      definition: definitionOf(bundle, output.definition),
      sensitive: isSensitive(bundle, output.definition),
      defaultFile: path.join(staging, `default-${index}`),
    };
    const collected = result.outputs.find((candidate) => candidate.name === name);
    judgements.push(
      collected === undefined
        ? await judgeAbsent(expected, result)
        : await judgeCollected(expected, collected, result.status === 'succeeded', time),
    );
  }
  return {
    kept: judgements.flatMap(({ kept = [] }) => kept),
    summaries: judgements.flatMap(({ summaries = [] }) => summaries),
    failures: judgements.flatMap(({ failures = [] }) => failures),
    warnings: judgements.flatMap(({ warnings = [] }) => warnings),
  };
}

async function judgeAbsent(expected: Expected, { status, problems }: RunResult): Promise<Judgement> {
  const { name, definition, defaultFile } = expected;
  const failure = (reason: string): Judgement => ({ failures: [`output "${name}" (${expected.path}): ${reason}`] });
  const problem = problems.find((candidate) => candidate.name === name);
  if (problem !== undefined && problem.kind !== 'missing') return failure(problem.reason);
  if (status !== 'succeeded') return {};
  const bytes = outputDefault(definition);
  if (bytes === undefined) return failure('was not written');
  await writeDurably(defaultFile, bytes);
  const stored = { name, file: defaultFile, size: bytes.length, sha256: sha256Of(bytes), byBundle: false };
  return { kept: [stored], summaries: [{ ...summaryOf({ ...expected, ...stored }, bytes), isDefault: true }] };
}

async function judgeCollected(
  expected: Expected,
  collected: CollectedOutput,
  succeeded: boolean,
  time: CheckTime,
): Promise<Judgement> {
  const { name, definition, sensitive } = expected;
  const bytes = collected.size > LARGEST_CHECKED ? undefined : await readFile(collected.file);
  const judged = {
    kept: [{ ...collected, byBundle: true }],
    summaries: [summaryOf({ ...expected, ...collected }, bytes)],
  };
  if (!succeeded) return judged;
  if (bytes === undefined) {
    const unchecked = `output "${name}" is larger than 16 MiB: it is stored without a check against its definition.`;
    return { ...judged, warnings: [unchecked] };
  }
  const invalid = await checkOutput(definition, bytes, time);
  const odd = outputWarning(definition, bytes);
  return {
    ...judged,
    failures: invalid === undefined ? [] : [`output "${name}": ${sensitive ? 'does not fit its definition' : invalid}`],
    warnings: odd === undefined ? [] : [`output "${name}" ${odd}.`],
  };
}

async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  // A process that was killed after this may have left one.
  await unlink(file).catch(ignoreMissing);
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
