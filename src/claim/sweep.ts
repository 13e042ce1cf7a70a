import { stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TEMP_PREFIX } from './atomic-write.js';
import { decodeFileName } from './file-name.js';
import { documentStem, isDocumentName, type TargetLayout } from './layout.js';
import { namesIn } from './read-file.js';

/** Younger temporary files in folders that several processes write to may belong to one that is still writing. */
const OLD_MS = 24 * 60 * 60 * 1000;

/** Removes what killed processes left of their writes. Call it under the installation's lock. Rejects with errno errors. */
export async function sweepInstallation(layout: TargetLayout, installation: string, now: number): Promise<void> {
  const claims = layout.claims(installation);
  await removeTemps(claims, () => true);
  for (const name of (await namesIn(claims)).filter(isDocumentName)) {
    const claimId = decodeFileName(documentStem(name));
    if (claimId !== undefined) await removeTemps(layout.results(claimId), () => true);
  }
  for (const shared of [layout.locks, layout.folder, dirname(dirname(layout.folder))]) {
    await removeTemps(shared, (modified) => now - modified > OLD_MS);
  }
}

async function removeTemps(folder: string, isOld: (modified: number) => boolean): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (!name.startsWith(TEMP_PREFIX)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (isOld(mtimeMs)) await unlink(path);
  }
}
