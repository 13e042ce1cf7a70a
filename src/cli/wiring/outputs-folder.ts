import { copyFile, chmod, mkdir, rename } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ActionEvents } from '../../action/request.js';
import { encodeFileName } from '../../claim/file-name.js';
import { CnabError, messageOf } from '../../errors.js';

/**
 * `--outputs-dir`: copies each output to a file of its name (encoded, 0600), whole or not at all; sensitive ones stay in
 * the record, and a line says so. Rejects with CnabError `unavailable` when the folder cannot be written.
 */
export function outputsFolder(
  folder: string | undefined,
  cwd: string,
  say: (line: string) => void,
): Pick<ActionEvents, 'onOutputs'> {
  if (folder === undefined) return {};
  return {
    onOutputs: async (outputs) => {
      const place = resolve(cwd, folder);
      try {
        await mkdir(place, { recursive: true });
        for (const { name, file } of outputs.filter(({ sensitive }) => !sensitive)) {
          const target = resolve(place, encodeFileName(name));
          const staged = `${target}.part`;
          await copyFile(file, staged);
          await chmod(staged, 0o600);
          await rename(staged, target);
        }
      } catch (error) {
        throw new CnabError('unavailable', `the outputs cannot be copied to ${folder}: ${messageOf(error)}`, {
          cause: error,
          suggestions: ['they are in the record: cnab outputs list'],
        });
      }
      const kept = outputs.filter(({ sensitive }) => sensitive).map(({ name }) => name);
      if (kept.length > 0) say(`note: sensitive outputs are not copied to ${folder}: ${kept.join(', ')}`);
    },
  };
}
