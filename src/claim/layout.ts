import { join } from 'node:path';
import { encodeFileName, hashedFileName } from './file-name.js';

/** How the names of records and locks end. */
export const DOCUMENT = '.json';

/**
 * Where everything is. Inside a target it is the layout of cnab-go's file store (claim/doc.go), with names encoded:
 *
 *     <home>/schema.json
 *     <home>/targets/<target id>/target.json
 *     <home>/targets/<target id>/installations/<installation>                   empty
 *     <home>/targets/<target id>/claims/<installation>/<claim id>.json
 *     <home>/targets/<target id>/results/<claim id>/<result id>.json
 *     <home>/targets/<target id>/outputs/<result id>/<result id>-<output name>  raw bytes
 *     <home>/locks/<target id>/<installation>.json
 *     <home>/locks/.runs/<run id>.json
 *     <home>/runs/<run id>/
 */
export interface Layout {
  readonly home: string;
  readonly schema: string;
  readonly targets: string;
  readonly runs: string;
  on(targetId: string): TargetLayout;
  /** No target's folder begins with a dot. */
  readonly runLocks: string;
  run(runId: string): string;
  runLock(runId: string): string;
}

export interface TargetLayout {
  readonly folder: string;
  readonly description: string;
  readonly installations: string;
  readonly allClaims: string;
  readonly allResults: string;
  readonly allOutputs: string;
  readonly locks: string;
  marker(installation: string): string;
  claims(installation: string): string;
  claim(installation: string, claimId: string): string;
  results(claimId: string): string;
  result(claimId: string, resultId: string): string;
  outputs(resultId: string): string;
  lock(installation: string): string;
}

export function layoutOf(home: string): Layout {
  const targets = join(home, 'targets');
  const runs = join(home, 'runs');
  const runLocks = join(home, 'locks', '.runs');
  return {
    home,
    schema: join(home, 'schema.json'),
    targets,
    runs,
    on: (targetId) => targetLayout(home, encodeFileName(targetId)),
    runLocks,
    run: (runId) => join(runs, encodeFileName(runId)),
    runLock: (runId) => join(runLocks, documentName(runId)),
  };
}

/** `folderName` is the target's id, encoded. */
function targetLayout(home: string, folderName: string): TargetLayout {
  const folder = join(home, 'targets', folderName);
  const locks = join(home, 'locks', folderName);
  const claims = (installation: string) => join(folder, 'claims', encodeFileName(installation));
  const allResults = join(folder, 'results');
  const allOutputs = join(folder, 'outputs');
  const results = (claimId: string) => join(allResults, encodeFileName(claimId));
  return {
    folder,
    description: join(folder, 'target.json'),
    installations: join(folder, 'installations'),
    allClaims: join(folder, 'claims'),
    allResults,
    allOutputs,
    locks,
    marker: (installation) => join(folder, 'installations', encodeFileName(installation)),
    claims,
    claim: (installation, claimId) => join(claims(installation), documentName(claimId)),
    results,
    result: (claimId, resultId) => join(results(claimId), documentName(resultId)),
    outputs: (resultId) => join(allOutputs, encodeFileName(resultId)),
    lock: (installation) => join(locks, documentName(installation)),
  };
}

/** File name of a claim or result document. */
export function documentName(id: string): string {
  return encodeFileName(id) + DOCUMENT;
}

/** True for the name of a record; false for temporary files, backups and whatever else lies about. */
export function isDocumentName(fileName: string): boolean {
  return !fileName.startsWith('.') && fileName.endsWith(DOCUMENT) && fileName.length > DOCUMENT.length;
}

/** The encoded id in a document's file name. */
export function documentStem(fileName: string): string {
  return fileName.slice(0, -DOCUMENT.length);
}

/** File names that an output may have, the one to try first in front (see `outputFileNames`). */
export function outputCandidates(resultId: string, output: string): readonly string[] {
  const prefix = `${encodeFileName(resultId)}-`;
  return [prefix + hashedFileName(output), prefix + encodeFileName(output)];
}

/**
 * File names for the outputs of one result. Names that differ in nothing but case would be one file on macOS's
 * default file system: the second and later ones get their hash.
 */
export function outputFileNames(resultId: string, outputs: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  for (const output of outputs) {
    const [hashed = '', plain = ''] = outputCandidates(resultId, output);
    const clash = taken.has(plain.toLowerCase()) && !names.has(output);
    if (!names.has(output)) names.set(output, clash ? hashed : plain);
    taken.add(plain.toLowerCase());
  }
  return names;
}
