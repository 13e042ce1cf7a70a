import { CnabError } from '../errors.js';
import { createFile, makeFolder } from './atomic-write.js';
import { DamagedDocument, formatDocument, parseObject } from './documents.js';
import type { Layout } from './layout.js';
import { readRecord } from './read-file.js';

/** Version of the layout on disk; a store of a newer one is refused and left alone. */
const STORE_VERSION = 1;

/**
 * Rejects with CnabError `invalid` for a store that a newer program has written, or whose schema.json cannot be read.
 * A home without schema.json is empty, or of version 1.
 */
export async function checkVersion({ home, schema }: Layout): Promise<void> {
  const version = await readVersion(schema);
  if (version !== undefined && version > STORE_VERSION) {
    throw new CnabError(
      'invalid',
      `the store in ${home} is of version ${version} (${schema}), and this program knows version ${STORE_VERSION} at most`,
      { suggestions: ['install a newer cnab, or set CNAB_HOME to another folder'] },
    );
  }
}

/** Makes the home and its schema.json where they are missing. Rejects with errno errors. */
export async function ensureHome({ home, schema }: Layout): Promise<void> {
  await makeFolder(home);
  if ((await readVersion(schema)) !== undefined) return;
  // False: another process was faster.
  await createFile(schema, formatDocument({ version: STORE_VERSION, claims: '1.0.0' }));
}

async function readVersion(schema: string): Promise<number | undefined> {
  try {
    const bytes = await readRecord(schema);
    if (bytes === undefined) return undefined;
    const { version } = parseObject(bytes);
    if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) {
      throw new DamagedDocument('it has no "version" that is a whole number');
    }
    return version;
  } catch (error) {
    if (!(error instanceof DamagedDocument)) throw error;
    throw new CnabError('invalid', `cannot tell the version of the store: ${schema}: ${error.message}`, {
      suggestions: [
        `put it right ({"version": ${STORE_VERSION}} for a store of this program), or set CNAB_HOME elsewhere`,
      ],
    });
  }
}
