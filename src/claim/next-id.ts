import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CnabError } from '../errors.js';
import { DamagedDocument, parseClaim } from './documents.js';
import { decodeFileName } from './file-name.js';
import { documentStem, isDocumentName, type TargetLayout } from './layout.js';
import { mapSome, namesIn, readRecord } from './read-file.js';
import type { StoreOptions } from './store-options.js';
import { newUlid } from './ulid.js';

/**
 * A ULID greater than every stored id of the installation and every one that was `issued` (by claims folder) for it: the state of a
 * monotonic generator does not outlive its process, and clocks step back. Rejects with CnabError `invalid` where no
 * ULID can follow what is stored.
 */
export async function nextIdOf(
  layout: TargetLayout,
  installation: string,
  issued: Map<string, string>,
  { clock, random = randomBytes }: Pick<StoreOptions, 'clock' | 'random'>,
): Promise<string> {
  const stored = await greatestStored(layout, installation);
  // Read after the last await: two calls at once must not start from the same floor.
  const folder = layout.claims(installation);
  const before = issued.get(folder) ?? '';
  const floor = stored > before ? stored : before;
  const id = newUlid(clock.now(), random(10), floor);
  if (id === undefined) {
    throw new CnabError('invalid', `no ULID can follow the id "${floor}", which is recorded in ${folder}`);
  }
  issued.set(folder, id);
  return id;
}

async function greatestStored(layout: TargetLayout, installation: string): Promise<string> {
  const folder = layout.claims(installation);
  const files = (await namesIn(folder)).filter(isDocumentName);
  const claims = files.map((file) => ({ file, id: idOf(file) }));
  const results = await mapSome(claims, async ({ id }) =>
    (await namesIn(layout.results(id))).filter(isDocumentName).map(idOf),
  );
  const newest = claims.reduce<(typeof claims)[number] | undefined>(
    (a, b) => (a === undefined || b.id > a.id ? b : a),
    undefined,
  );
  const revision = newest === undefined ? '' : await revisionIn(join(folder, newest.file));
  return [newest?.id ?? '', revision, ...results.flat()].reduce((a, b) => (a > b ? a : b));
}

/** A revision is drawn like an id, and may be the greatest of all when its process died before the first result. */
async function revisionIn(file: string): Promise<string> {
  try {
    const bytes = await readRecord(file);
    return bytes === undefined ? '' : parseClaim(bytes).document.revision;
  } catch (error) {
    if (error instanceof DamagedDocument) return '';
    throw error;
  }
}

function idOf(fileName: string): string {
  return decodeFileName(documentStem(fileName)) ?? documentStem(fileName);
}
