import { rm, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { exists, syncFolder } from './atomic-write.js';
import { isMissing } from './disk-error.js';
import { decodeFileName } from './file-name.js';
import { documentStem, isDocumentName, type TargetLayout } from './layout.js';
import { removeOutputs } from './outputs.js';
import { namesIn } from './read-file.js';

/**
 * Removes what is recorded of an installation, readable or not: outputs, results, what a killed run left in `runs/`,
 * claims, marker. A second call completes what a killed first one left, because each step finds its files by those of
 * the next. Rejects with errno errors.
 */
export async function removeInstallation(
  layout: TargetLayout,
  installation: string,
  removeRun: (runId: string) => Promise<void>,
): Promise<void> {
  const claims = layout.claims(installation);
  for (const claimId of await idsIn(claims)) {
    await removeRun(claimId);
    for (const resultId of await idsIn(layout.results(claimId))) await removeOutputs(layout, resultId);
    await rm(layout.results(claimId), { recursive: true, force: true });
  }
  await rm(claims, { recursive: true, force: true });
  const marker = layout.marker(installation);
  await unlink(marker).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
  });
  for (const folder of [dirname(claims), dirname(marker)]) {
    if (await exists(folder)) await syncFolder(folder);
  }
}

async function idsIn(folder: string): Promise<readonly string[]> {
  const names = (await namesIn(folder)).filter(isDocumentName).map(documentStem);
  return names.map((name) => decodeFileName(name) ?? name);
}
