import { constants } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { CnabError, messageOf } from '../errors.js';
import { quoted } from './problem.js';
import { isRegistryReference } from './registry-reference.js';

export interface BundleSourceDeps {
  /** Folder that relative references start from. */
  readonly cwd: string;
  /** Standard input; called only for the reference `-`. */
  readonly stdin: () => AsyncIterable<Uint8Array>;
}

/** A bundle's bytes, not looked at yet. */
export interface BundleSource {
  readonly source: Uint8Array;
  /** For messages: the path as it was given, or `standard input`. */
  readonly origin: string;
  /** Absolute real path of the folder that holds the file; absent for standard input. */
  readonly folder?: string;
}

/** Bytes. Real bundles are below 1 MiB; the pod gets the whole document. */
const LARGEST_BUNDLE = 16 * 1024 * 1024;

const FILE_NAMES = ['bundle.json', 'bundle.yaml', 'bundle.yml'];

/**
 * Reads what a reference names: a file, a folder that holds bundle.json, or `-` for standard input.
 *
 * Rejects with CnabError `invalid` when there is nothing to read there, it is no regular file, it is larger than
 * 16 MiB, or it is of a kind that is not supported (thick bundles, registry references).
 */
export async function loadBundleSource(reference: string, deps: BundleSourceDeps): Promise<BundleSource> {
  if (reference === '-') return { source: await readAll(deps.stdin()), origin: 'standard input' };
  if (reference === '')
    throw new CnabError(
      'invalid',
      'the bundle reference is empty: give a file, a folder that holds bundle.json, or -.',
    );
  const given = path.resolve(deps.cwd, reference);
  const found = await stat(given).catch((error: unknown) => {
    throw missing(reference, error);
  });
  if (!found.isDirectory()) return await readFileAt(given, reference);
  for (const name of FILE_NAMES) {
    const file = path.join(given, name);
    if (await exists(file)) return await readFileAt(file, path.join(reference, name));
  }
  throw await noBundleIn(given, reference);
}

async function readFileAt(file: string, origin: string): Promise<BundleSource> {
  let handle: FileHandle;
  try {
    // Opening a FIFO waits for a writer unless told not to.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw missing(origin, error);
  }
  try {
    const status = await handle.stat();
    if (status.isDirectory()) throw new CnabError('invalid', `${quoted(origin)} is a folder, not a file.`);
    if (!status.isFile()) {
      throw new CnabError(
        'invalid',
        `${quoted(origin)} is a pipe, a socket or a device, not a file: to read a bundle from a pipe give - and use standard input.`,
      );
    }
    if (status.size > LARGEST_BUNDLE) throw tooLarge(origin);
    const source = await readUpTo(handle, origin);
    if (isThick(source, origin)) {
      throw new CnabError(
        'invalid',
        `${quoted(origin)} is a thick bundle (an archive), which is not supported yet: unpack it and give its bundle.json.`,
      );
    }
    return { source, origin, folder: path.dirname(await realpath(file)) };
  } finally {
    await handle.close();
  }
}

async function readUpTo(handle: FileHandle, origin: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(256 * 1024), 0, 256 * 1024, null);
      if (bytesRead === 0) return Buffer.concat(chunks);
      size += bytesRead;
      if (size > LARGEST_BUNDLE) throw tooLarge(origin);
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } catch (error) {
    throw error instanceof CnabError
      ? error
      : new CnabError('invalid', `cannot read ${quoted(origin)}: ${messageOf(error)}.`, { cause: error });
  }
}

async function readAll(stdin: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    size += chunk.length;
    if (size > LARGEST_BUNDLE) throw tooLarge('standard input');
    chunks.push(chunk);
  }
  const source = Buffer.concat(chunks);
  if (isThick(source, '')) {
    throw new CnabError(
      'invalid',
      'standard input is a thick bundle (an archive), which is not supported yet: give its bundle.json.',
    );
  }
  return source;
}

/** By the magic of gzip, whatever the name says (spec 104). */
function isThick(source: Uint8Array, name: string): boolean {
  return (source[0] === 0x1f && source[1] === 0x8b) || /\.(tgz|tar\.gz|tar)$/i.test(name);
}

function tooLarge(origin: string): CnabError {
  return new CnabError(
    'invalid',
    `${quoted(origin)} is larger than 16 MiB, the most that a bundle may have: is it the right file?`,
  );
}

function missing(reference: string, error: unknown): CnabError {
  const code = (error as { code?: unknown } | null)?.code;
  const shown = quoted(reference);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return isRegistryReference(reference)
        ? new CnabError(
            'invalid',
            `${shown} looks like a reference into a registry, which is not supported yet: give a file or a folder that holds bundle.json.`,
          )
        : new CnabError(
            'invalid',
            `there is no file or folder ${shown}: give a bundle.json, a folder that holds one, or - for standard input.`,
          );
    case 'EACCES':
    case 'EPERM':
      return new CnabError('invalid', `${shown} may not be read: permission denied.`, { cause: error });
    case 'ELOOP':
      return new CnabError('invalid', `${shown} leads round in a circle of symbolic links.`);
    case 'ENAMETOOLONG':
      return new CnabError(
        'invalid',
        `${shown} is too long for a path: to give a bundle's text use - and standard input.`,
      );
    case 'ENXIO':
      return new CnabError('invalid', `${shown} is a socket or a device, not a file.`);
    default:
      return new CnabError('invalid', `cannot read ${shown}: ${messageOf(error)}.`, { cause: error });
  }
}

async function noBundleIn(folder: string, reference: string): Promise<CnabError> {
  for (const [name, tool] of [
    ['porter.yaml', 'porter build'],
    ['duffle.json', 'duffle build'],
  ] as const) {
    if (await exists(path.join(folder, name))) {
      const found = name === 'porter.yaml' && (await exists(path.join(folder, '.cnab', 'bundle.json')));
      const advice = found
        ? `give ${path.join(reference, '.cnab')}, where its bundle.json is`
        : `build it first with "${tool}"`;
      return new CnabError('invalid', `the folder ${quoted(reference)} holds ${name} but no bundle.json: ${advice}.`);
    }
  }
  return new CnabError('invalid', `the folder ${quoted(reference)} holds no bundle.json.`);
}

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    (error: unknown) => (error as { code?: unknown } | null)?.code !== 'ENOENT',
  );
}
