import type { ClaimStore } from './claim-store.js';
import { errnoOf, onDisk } from './disk-error.js';
import { DamagedDocument, parseTarget } from './documents.js';
import { decodeFileName, encodeFileName } from './file-name.js';
import { layoutOf, type Layout } from './layout.js';
import { namesIn, readRecord } from './read-file.js';
import { checkVersion } from './schema-version.js';
import type { StoreOptions } from './store-options.js';
import { hasClaims, targetClaims } from './target-claims.js';
import type { Target } from './target.js';

/**
 * The claim store on files: the documents of CNAB Claims 1.0.0 in cnab-go's layout, one tree per target (`layout.ts`).
 *
 * Folders are 0700 and files 0600. A record appears whole and durable or not at all, and never changes. Names are
 * encoded (`file-name.ts`), so nothing in a bundle or an argument leaves the home. On a file system that ignores case
 * two installations whose names differ in nothing else cannot both be kept: the second one is refused, not mixed in.
 */
export function createClaimStore(options: StoreOptions): ClaimStore {
  const layout = layoutOf(options.home);
  const issued = new Map<string, string>();
  const targets = () => onDisk('read', options.home, () => readTargets(layout));
  return {
    targets,
    on: (target) => targetClaims(target, layout, options, issued),
    targetsOf: async (installation) => {
      const found: Target[] = [];
      for (const target of await targets()) {
        const there = await onDisk('read', options.home, () => hasClaims(layout.on(target.id), installation));
        if (there) found.push(target);
      }
      return found;
    },
  };
}

async function readTargets(layout: Layout): Promise<readonly Target[]> {
  await checkVersion(layout);
  const names = (await namesIn(layout.targets)).filter((name) => !name.startsWith('.'));
  return (await Promise.all(names.map((name) => readTarget(layout, name)))).filter((target) => target !== undefined);
}

/**
 * A target whose description is damaged stands under its id, so that its installations are not hidden; its `list`
 * reports the file. Undefined for what is no target's folder.
 */
async function readTarget(layout: Layout, folderName: string): Promise<Target | undefined> {
  const id = decodeFileName(folderName);
  if (id === undefined) return undefined;
  const standIn: Target = { id, driver: id.replace(/-.*/u, ''), label: id };
  try {
    const bytes = await readRecord(layout.on(id).description);
    const target = bytes === undefined ? standIn : parseTarget(bytes);
    return encodeFileName(target.id) === folderName ? target : standIn;
  } catch (error) {
    if (error instanceof DamagedDocument) return standIn;
    if (errnoOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
