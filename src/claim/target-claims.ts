import { basename, join } from 'node:path';
import { CnabError } from '../errors.js';
import { createFile, makeFolder, replaceFile } from './atomic-write.js';
import type { Claim, Result } from './claim.js';
import type { DamagedRecord, InstallationList, LiveOwner, NewOutput, TargetClaims } from './claim-store.js';
import { onDisk } from './disk-error.js';
import { DamagedDocument, formatDocument, MAX_DOCUMENT_BYTES, parseTarget } from './documents.js';
import { decodeFileName, encodeFileName } from './file-name.js';
import { lockInstallation } from './installation-lock.js';
import { documentName, isDocumentName, type Layout, type TargetLayout } from './layout.js';
import { seenOwner } from './in-use.js';
import { liveOwner } from './lock.js';
import { nextIdOf } from './next-id.js';
import { findOutput, returnOutputs, storeOutputs } from './outputs.js';
import { namesIn, readRecord } from './read-file.js';
import { damageOf, readInstallation } from './records.js';
import { removeInstallation } from './remove.js';
import { lookIntoRun, openRunFolder, removeRunFolder } from './run-folder.js';
import { checkVersion, ensureHome } from './schema-version.js';
import type { StoreOptions } from './store-options.js';
import type { Target } from './target.js';

/** The records of one target in a file store. `issued` are the ids that the process has drawn (see `nextIdOf`). */
export function targetClaims(
  target: Target,
  layout: Layout,
  options: StoreOptions,
  issued: Map<string, string>,
): TargetClaims {
  const own = layout.on(target.id);
  /** Every access begins with a look at the store's version. */
  const access = <T>(doing: string, body: () => Promise<T>): Promise<T> =>
    onDisk(doing, own.folder, async () => {
      await checkVersion(layout);
      return await body();
    });
  const write = <T>(body: () => Promise<T>): Promise<T> =>
    access('write', async () => {
      await ensureHome(layout);
      return await body();
    });
  const locks = { probe: options, clock: options.clock };
  return {
    target,
    list: () => access('read', () => listInstallations(own)),
    read: (installation) => access('read', () => readOne(own, installation)),
    lock: (installation, purpose) => write(() => lockInstallation(target, layout, installation, purpose, locks)),
    nextId: (installation) => access('read', () => nextIdOf(own, installation, issued, options)),
    saveClaim: (claim) => write(() => saveClaim(target, own, claim)),
    saveResult: (installation, result, outputs = [], { keep = false } = {}) =>
      write(() => saveResult(own, installation, result, { outputs, keep })),
    output: (resultId, name) => access('read', () => findOutput(own, resultId, name)),
    remove: (installation) =>
      access('remove', () =>
        removeInstallation(own, installation, (runId) =>
          removeRunFolder({ runId, targetId: target.id, installation, purpose: 'remove' }, layout, locks),
        ),
      ),
    openRun: (runId, use) => write(() => openRunFolder({ runId, targetId: target.id, ...use }, layout, locks)),
    runLeft: (runId) => access('read', () => lookIntoRun(layout.run(runId))),
    runsLeft: (runIds) => access('read', () => runsLeft(layout, runIds)),
    owner: (installation) => access('read', () => ownerOf(own.lock(installation), options)),
  };
}

async function runsLeft(layout: Layout, runIds: readonly string[]): Promise<readonly string[]> {
  const names = new Set(await namesIn(layout.runs));
  return runIds.filter((id) => names.has(basename(layout.run(id))));
}

async function ownerOf(lock: string, probe: StoreOptions): Promise<LiveOwner | undefined> {
  const live = await liveOwner(lock, { probe });
  return live === undefined ? undefined : seenOwner(lock, live.owner, live.facts);
}

/** True where the installation has a claim, readable or not. Rejects with errno errors. */
export async function hasClaims(layout: TargetLayout, installation: string): Promise<boolean> {
  return (await namesIn(layout.claims(installation))).some(isDocumentName);
}

async function readOne(layout: TargetLayout, installation: string) {
  const { installation: found, damaged } = await readInstallation(layout, layout.claims(installation));
  const [first] = damaged;
  if (first === undefined) return found;
  throw new CnabError('invalid', `a record of "${installation}" cannot be read: ${first.file}: ${first.reason}`, {
    details: damaged.slice(1).map(({ file, reason }) => `${file}: ${reason}`),
    suggestions: [
      `to go on without it, give it a name that does not end in .json, such as ${basename(first.file)}.damaged`,
    ],
  });
}

async function listInstallations(layout: TargetLayout): Promise<InstallationList> {
  const found = [];
  const damaged: DamagedRecord[] = [...(await damagedTarget(layout))];
  for (const name of (await namesIn(layout.allClaims)).filter((entry) => !entry.startsWith('.'))) {
    const files = await readInstallation(layout, join(layout.allClaims, name));
    if (files.installation !== undefined) found.push(files.installation);
    damaged.push(...files.damaged, ...files.defective);
  }
  return { installations: found, damaged };
}

async function damagedTarget({ description, folder }: TargetLayout): Promise<readonly DamagedRecord[]> {
  try {
    const bytes = await readRecord(description);
    if (bytes === undefined) return [];
    const { id } = parseTarget(bytes);
    const isOwn = encodeFileName(id) === basename(folder);
    return isOwn ? [] : [{ file: description, reason: `it describes another target, "${id}"` }];
  } catch (error) {
    return [damageOf(description, error)];
  }
}

async function saveClaim(target: Target, layout: TargetLayout, claim: Claim): Promise<void> {
  await makeFolder(layout.folder);
  await describeTarget(target, layout);
  const folder = layout.claims(claim.installation);
  await makeFolder(folder);
  await refuseMixing(layout, claim.installation);
  await makeFolder(layout.installations);
  // Empty, as cnab-go has it; the claims are what counts. False: it is there already.
  await createFile(layout.marker(claim.installation), '');
  await saveNew('claim', layout.claim(claim.installation, claim.id), claim);
}

/** What the id stands for, as last seen: another kube context may lead to the same namespace. */
async function describeTarget(target: Target, layout: TargetLayout): Promise<void> {
  const now = formatDocument(target);
  const before = await readRecord(layout.description).catch((error: unknown) => {
    if (error instanceof DamagedDocument) return undefined;
    throw error;
  });
  if (before?.toString() !== now) await replaceFile(layout.description, now);
}

/** A file system that ignores case gives "App" the folder of "app". */
async function refuseMixing(layout: TargetLayout, installation: string): Promise<void> {
  const own = basename(layout.claims(installation));
  const names = await namesIn(layout.allClaims);
  const other = names.includes(own) ? undefined : names.find((name) => name.toLowerCase() === own.toLowerCase());
  if (other === undefined) return;
  throw new CnabError(
    'invalid',
    `"${installation}" cannot be recorded: ${layout.allClaims} is on a file system that ignores case, and has "${decodeFileName(other) ?? other}"`,
    { suggestions: ['choose another name'] },
  );
}

async function saveResult(
  layout: TargetLayout,
  installation: string,
  result: Result,
  { outputs, keep }: { readonly outputs: readonly NewOutput[]; readonly keep: boolean },
): Promise<void> {
  const claims = await namesIn(layout.claims(installation));
  if (!claims.includes(documentName(result.claimId))) {
    throw new CnabError(
      'not-found',
      `"${installation}" has no claim ${result.claimId} any more: its record was removed`,
    );
  }
  const path = layout.result(result.claimId, result.id);
  if ((await readRecord(path)) !== undefined) throw alreadyThere('result', path);
  try {
    await storeOutputs(layout, result.id, outputs, keep);
    await makeFolder(layout.results(result.claimId));
    await saveNew('result', path, result);
  } catch (error) {
    await returnOutputs(layout, result.id, outputs);
    throw error;
  }
}

async function saveNew(what: string, path: string, document: object): Promise<void> {
  const text = formatDocument(document);
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES) {
    throw new CnabError('invalid', `the ${what} is larger than ${MAX_DOCUMENT_BYTES} bytes: ${path}`);
  }
  if (!(await createFile(path, text))) throw alreadyThere(what, path);
}

function alreadyThere(what: string, path: string): CnabError {
  return new CnabError('wrong-state', `the ${what} is recorded already, and records never change: ${path}`);
}
