import { basename, dirname, join } from 'node:path';
import type { ClaimRecord, Installation, Result } from './claim.js';
import type { DamagedRecord } from './claim-store.js';
import { errnoOf, refusalOf } from './disk-error.js';
import { DamagedDocument, parseClaim, parseResult, unreadableResult, type Parsed } from './documents.js';
import { decodeFileName, encodeFileName } from './file-name.js';
import { documentName, documentStem, isDocumentName, type TargetLayout } from './layout.js';
import { mapSome, namesIn, readRecord } from './read-file.js';

/** What lies on disk of one installation. */
export interface InstallationFiles {
  /** Undefined where no claim can be read. */
  readonly installation: Installation | undefined;
  /** Records that cannot be read: without them the installation's state is not known. */
  readonly damaged: readonly DamagedRecord[];
  /** Records that can be read and break the spec. */
  readonly defective: readonly DamagedRecord[];
}

type Outcome<T> = { readonly record: T } | { readonly damage: DamagedRecord };

/**
 * Reads all records in one claims folder. Results that cannot be read stand as `unknown` in `installation`
 * (Claims 1.0.0: "results not readable" is status unknown), so that it never looks better than it is known to be.
 * Files that vanish meanwhile (`forget` in another process) count as absent. Rejects with errno errors.
 */
export async function readInstallation(layout: TargetLayout, folder: string): Promise<InstallationFiles> {
  const damaged: DamagedRecord[] = [];
  const defective: DamagedRecord[] = [];
  const records: ClaimRecord[] = [];
  const files = await documentsIn(folder, damaged);
  for (const outcome of await mapSome(files, (file) => readClaim(layout, file, defective))) {
    if (outcome === undefined) continue;
    if ('damage' in outcome) {
      damaged.push(outcome.damage);
      continue;
    }
    damaged.push(...outcome.damagedResults);
    records.push(outcome.record);
  }
  records.sort((a, b) => compareText(a.claim.id, b.claim.id));
  const name = records[0]?.claim.installation;
  return { installation: name === undefined ? undefined : { name, records }, damaged, defective };
}

interface ReadClaim {
  readonly record: ClaimRecord;
  readonly damagedResults: readonly DamagedRecord[];
}

async function readClaim(
  layout: TargetLayout,
  file: string,
  defective: DamagedRecord[],
): Promise<ReadClaim | { readonly damage: DamagedRecord } | undefined> {
  const outcome = await readDocument(file, parseClaim, defective);
  if (outcome === undefined || 'damage' in outcome) return outcome;
  const claim = outcome.record;
  if (encodeFileName(claim.installation) !== basename(dirname(file))) {
    // Also what a file system that takes "App" and "app" for one name comes to.
    return { damage: { file, reason: `it is a claim of another installation, "${claim.installation}"` } };
  }
  const folder = layout.results(claim.id);
  const damagedResults: DamagedRecord[] = [];
  const results: Result[] = [];
  for (const path of await documentsIn(folder, damagedResults)) {
    const result = await readDocument(path, (bytes) => parseResult(bytes, claim.id), defective);
    if (result === undefined) continue;
    if ('record' in result) {
      results.push(result.record);
    } else {
      damagedResults.push(result.damage);
      const stem = documentStem(basename(path));
      const id = decodeFileName(stem) ?? stem;
      results.push(unreadableResult(id, claim.id, `the record ${path} cannot be read: ${result.damage.reason}`));
    }
  }
  results.sort((a, b) => compareText(a.id, b.id));
  return { record: { claim, results }, damagedResults };
}

/** Undefined where the file is gone. */
async function readDocument<T extends { readonly id: string }>(
  file: string,
  parse: (bytes: Uint8Array) => Parsed<T>,
  defective: DamagedRecord[],
): Promise<Outcome<T> | undefined> {
  try {
    const bytes = await readRecord(file);
    if (bytes === undefined) return undefined;
    const { document, defects } = parse(bytes);
    if (documentName(document.id) !== basename(file)) {
      throw new DamagedDocument(`its id "${document.id}" is not that of its file name, which a copy would have`);
    }
    if (defects.length > 0) defective.push({ file, reason: defects.join(', ') });
    return { record: document };
  } catch (error) {
    return { damage: damageOf(file, error) };
  }
}

async function documentsIn(folder: string, damaged: DamagedRecord[]): Promise<readonly string[]> {
  try {
    return (await namesIn(folder)).filter(isDocumentName).map((name) => join(folder, name));
  } catch (error) {
    damaged.push(damageOf(folder, error));
    return [];
  }
}

/** What is wrong with this one place alone (another user's file, a file where a folder is expected) hides no other. */
const OF_ONE_PLACE = new Set(['EACCES', 'EPERM', 'ELOOP', 'ENOTDIR']);

/** Throws the error on where it speaks of more than the one place: too many open files, a failing disk, a bug of ours. */
export function damageOf(file: string, error: unknown): DamagedRecord {
  if (error instanceof DamagedDocument) return { file, reason: error.message };
  if (!OF_ONE_PLACE.has(errnoOf(error) ?? '')) throw error;
  return { file, reason: refusalOf(error) ?? '' };
}

/** Plain comparison by UTF-16 code unit, as ids are ordered (Claims 1.0.0); never by locale. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
