import { BUILT_IN_ACTIONS, isSensitive } from '../bundle/bundle.js';
import { member, own } from '../bundle/own.js';
import {
  CUSTOM_KEY,
  type Claim,
  type ClaimRecord,
  type Installation,
  type OutputMetadata,
  type Result,
  type Status,
} from './claim.js';

/** True for install, upgrade, uninstall and the custom actions that the claim's bundle declares with `modifies`. */
export function isModifying(claim: Claim): boolean {
  if ((BUILT_IN_ACTIONS as readonly string[]).includes(claim.action)) return true;
  return own(claim.bundle.actions, claim.action)?.modifies === true;
}

/** The record that an installation's state is judged by: a failing `io.cnab.status` must not make it look failed. */
export function lastModifying(installation: Installation): ClaimRecord | undefined {
  return installation.records.findLast(({ claim }) => isModifying(claim));
}

/** The newest run, modifying or not. */
export function lastRun(installation: Installation): ClaimRecord | undefined {
  return installation.records.at(-1);
}

/** The run that an installation is shown by: the last modifying one, else the newest. */
export function standingRun(installation: Installation): ClaimRecord | undefined {
  return lastModifying(installation) ?? lastRun(installation);
}

/** The result with the greatest id; undefined for a claim without any. */
export function lastResult(record: ClaimRecord): Result | undefined {
  return record.results.at(-1);
}

/** `unknown` for a claim without results (Claims 1.0.0). */
export function statusOf(record: ClaimRecord): Status {
  return lastResult(record)?.status ?? 'unknown';
}

/** The container's exit code where the result holds it; cnab-go's results do not. */
export function exitCodeOf(result: Result): number | undefined {
  const code = member(member(result.custom, CUSTOM_KEY), 'exitCode');
  return typeof code === 'number' ? code : undefined;
}

/**
 * True when the run tool itself ended with 0, whatever became of the outputs: a result is `failed` by CNAB when
 * outputs are missing, and the installation is there all the same.
 */
function endedWithZero(record: ClaimRecord): boolean {
  const result = lastResult(record);
  if (result === undefined) return false;
  const code = exitCodeOf(result);
  return code === undefined ? result.status === 'succeeded' : code === 0;
}

/** True when the run tool was never started: such a run has changed nothing. */
export function neverRan(record: ClaimRecord): boolean {
  const result = lastResult(record);
  // Ours is always marked as running before anything runs; other tools may leave a claim without results.
  if (result === undefined) return member(record.claim.custom, CUSTOM_KEY) !== undefined;
  return member(member(result.custom, CUSTOM_KEY), 'ran') === 'no';
}

/**
 * The run that the installation's state, bundle and kept choices come from: the last modifying one whose run tool was
 * started, or, while none ever was, the last modifying one.
 */
export function lastEffective(installation: Installation): ClaimRecord | undefined {
  const { records } = installation;
  return records.findLast((record) => isModifying(record.claim) && !neverRan(record)) ?? lastModifying(installation);
}

/**
 * True when the last modifying run ended with 0 and was no uninstall: what `install` refuses to run over.
 * A failed run leaves the state undefined (cnab-spec issue 237): then this is false, and so is `isUninstalled`.
 */
export function isInstalled(installation: Installation): boolean {
  const record = lastEffective(installation);
  return record !== undefined && record.claim.action !== 'uninstall' && endedWithZero(record);
}

/** True when the last modifying run was an uninstall that ended with 0: history that lists do not show. */
export function isUninstalled(installation: Installation): boolean {
  const record = lastEffective(installation);
  return record !== undefined && record.claim.action === 'uninstall' && endedWithZero(record);
}

/** True while nothing is there to upgrade: no run ended with 0 yet, or the last that did was an uninstall. */
export function isAbsent(installation: Installation): boolean {
  const record = installation.records.findLast((run) => isModifying(run.claim) && endedWithZero(run));
  return record === undefined || record.claim.action === 'uninstall';
}

/**
 * The newest record that was begun and never got an end (`pending` or `running` without a final result): its process
 * was killed, or still works. A claim without any result was never begun.
 */
export function unsettled(installation: Installation): ClaimRecord | undefined {
  return installation.records.findLast(isUnsettled);
}

export function isUnsettled({ results }: ClaimRecord): boolean {
  return results.length > 0 && results.every(isOpen);
}

function isOpen({ status }: Result): boolean {
  return status === 'running' || status === 'pending';
}

/** An output as some run of the installation left it. */
export interface ProducedOutput {
  readonly name: string;
  readonly metadata: OutputMetadata;
  readonly result: Result;
  /** The claim whose run produced it; its bundle says what the output is, the newest bundle may not know it any more. */
  readonly claim: Claim;
  readonly sensitive: boolean;
}

/**
 * For each output name the newest result, over all claims and whatever its status, that has it; by name.
 * Older outputs survive later runs that did not produce them. Includes the log (`LOGS_OUTPUT`).
 */
export function lastOutputs(installation: Installation): readonly ProducedOutput[] {
  const newest = new Map<string, ProducedOutput>();
  for (const output of allOutputs(installation)) {
    const known = newest.get(output.name);
    if (known === undefined || output.result.id >= known.result.id) newest.set(output.name, output);
  }
  return [...newest.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Every run's output of that name, newest first: for where the newest one's file is gone. */
export function outputHistory(installation: Installation, name: string): readonly ProducedOutput[] {
  return allOutputs(installation)
    .filter((output) => output.name === name)
    .sort((a, b) => (a.result.id > b.result.id ? -1 : 1));
}

/** The outputs of one run, by name; of several results of one claim the newest counts. */
export function outputsOf(record: ClaimRecord): readonly ProducedOutput[] {
  return lastOutputs({ name: record.claim.installation, records: [record] });
}

function allOutputs({ records }: Installation): readonly ProducedOutput[] {
  return records.flatMap(({ claim, results }) =>
    results.flatMap((result) =>
      Object.entries(result.outputs ?? {}).map(([name, metadata]) => ({
        name,
        metadata,
        result,
        claim,
        sensitive: isSensitiveOutput(claim, name),
      })),
    ),
  );
}

/** True when the claim's bundle marks the output `writeOnly`. False for one that it does not declare. */
function isSensitiveOutput(claim: Claim, name: string): boolean {
  const definition = own(claim.bundle.outputs, name)?.definition;
  return definition !== undefined && isSensitive(claim.bundle, definition);
}

/**
 * True when the value of a parameter is no one's to see: by its definition, by the claim's own note (it came from a
 * sensitive output), or because the bundle does not declare it, so that it cannot be told from a secret.
 */
export function isSensitiveParameter(claim: Claim, name: string): boolean {
  const parameter = own(claim.bundle.parameters, name);
  const noted = member(member(claim.custom, CUSTOM_KEY), 'sensitiveParameters');
  return (
    parameter === undefined ||
    isSensitive(claim.bundle, parameter.definition) ||
    (Array.isArray(noted) && noted.includes(name))
  );
}

/** One run as `history` lists it. */
export interface HistoryEntry {
  readonly claim: Claim;
  readonly status: Status;
  readonly modifying: boolean;
  readonly exitCode?: number;
  readonly message?: string;
  /** RFC 3339; absent while there is no final result. */
  readonly ended?: string;
}

/** All runs, oldest first. */
export function history(installation: Installation): readonly HistoryEntry[] {
  return installation.records.map((record) => {
    const { claim } = record;
    const result = lastResult(record);
    const exitCode = result === undefined ? undefined : exitCodeOf(result);
    return {
      claim,
      status: statusOf(record),
      modifying: isModifying(claim),
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(result?.message === undefined || result.message === '' ? {} : { message: result.message }),
      ...(result === undefined || isOpen(result) || result.created === '' ? {} : { ended: result.created }),
    };
  });
}
