import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, copyFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ActionEvents } from '../../action/request.js';
import { makeFolder } from '../../claim/atomic-write.js';
import { encodeFileName, hashedFileName } from '../../claim/file-name.js';
import { CnabError, messageOf } from '../../errors.js';
import type { ActionFlags } from '../action-flags.js';

/** Where outputs are left beside the record. */
export interface OutputsFolder {
  readonly folder: string;
  /** Names of sensitive outputs that are copied all the same. */
  readonly included: readonly string[];
  readonly cwd: string;
}

/**
 * What `--outputs-dir` and `--include-sensitive` say. Rejects with CnabError `invalid` where the folder could not be made
 * or written: better before a long run than after it. Creates nothing.
 */
export async function outputsFolderOf(flags: ActionFlags, cwd: string): Promise<OutputsFolder | undefined> {
  const { 'outputs-dir': folder, 'include-sensitive': included = [] } = flags;
  if (folder !== undefined) {
    await checkFolder(folder, cwd);
    return { folder, included, cwd };
  }
  if (included.length === 0) return undefined;
  throw new CnabError('invalid', '--include-sensitive names what --outputs-dir is to leave, and that is not given', {
    suggestions: ['add --outputs-dir DIR, or read it afterwards: cnab outputs show NAME OUTPUT'],
  });
}

async function checkFolder(folder: string, cwd: string): Promise<void> {
  let place = resolve(cwd, folder);
  while (place !== dirname(place) && (await isAbsent(place))) place = dirname(place);
  try {
    if (!(await stat(place)).isDirectory()) throw new Error(`${place} is no folder`);
    await access(place, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new CnabError('invalid', `the outputs cannot be left in ${folder}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Copies each output to a file of its name (encoded, 0600), whole or not at all; of the sensitive ones those that are
 * included, and a line names the others. Rejects with CnabError `outputs-incomplete`: whatever the disk says, it has run.
 */
export function copyOutputs(to: OutputsFolder, say: (line: string) => void): NonNullable<ActionEvents['onOutputs']> {
  const { folder, cwd } = to;
  return async (outputs) => {
    const withheld = outputs.filter((output) => isWithheld(output, to));
    const place = resolve(cwd, folder);
    try {
      await makeFolder(place);
      for (const output of outputs.filter((one) => !withheld.includes(one))) {
        await copyWhole(output.file, join(place, fileName(output.name, outputs)));
      }
    } catch (error) {
      throw new CnabError(
        'outputs-incomplete',
        `the outputs are in the record, but cannot be copied to ${folder}: ${messageOf(error)}`,
        { cause: error, suggestions: ['to read one: cnab outputs show NAME OUTPUT'] },
      );
    }
    if (withheld.length === 0) return;
    const names = withheld.map(({ name }) => name).join(', ');
    say(`note: sensitive outputs are not copied to ${folder} unless --include-sensitive names them: ${names}`);
  };
}

/** True for a sensitive output that is not to be copied. */
export function isWithheld(
  { name, sensitive }: { readonly name: string; readonly sensitive: boolean },
  { included }: Pick<OutputsFolder, 'included'>,
): boolean {
  return sensitive && !included.includes(name);
}

/** Under a name that nobody can know before, so that no link or file that lies there is written through. */
async function copyWhole(file: string, target: string): Promise<void> {
  const staged = `${target}.${randomBytes(8).toString('hex')}.part`;
  try {
    await copyFile(file, staged, constants.COPYFILE_EXCL);
    await chmod(staged, 0o600);
    await rename(staged, target);
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
}

/** Of names that differ in case alone each gets its hash: there are disks on which they are one file. */
function fileName(name: string, outputs: readonly { readonly name: string }[]): string {
  const folded = name.toLowerCase();
  const alone = outputs.filter((other) => other.name.toLowerCase() === folded).length === 1;
  return alone ? encodeFileName(name) : hashedFileName(name);
}

async function isAbsent(place: string): Promise<boolean> {
  return await stat(place).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}
