import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CnabError, messageOf } from '../errors.js';
import type { FlagShape, FlagValue } from './flag-values.js';
import type { Surroundings } from './surroundings.js';

/** What a user has set for every run: the weakest place that a flag's value comes from. */
export interface ConfigFile {
  /** Absolute path. */
  readonly file: string;
  /** By the flag's name. */
  readonly values: ReadonlyMap<string, FlagValue>;
  /** Contexts against which nothing runs without a confirmation. */
  readonly protectedContexts: readonly string[];
}

/** Absolute path: `$CNAB_CONFIG`, else `config.yaml` in `$CNAB_HOME` or, where that is not set, in the framework's folder. */
export function configPath({ env, cwd }: Pick<Surroundings, 'env' | 'cwd'>, configFolder: string): string {
  return resolve(cwd, env['CNAB_CONFIG'] || join(env['CNAB_HOME'] || configFolder, 'config.yaml'));
}

/**
 * Reads the config file; where there is none, this costs one look at the disk and loads nothing.
 * Rejects with CnabError `invalid` when it cannot be read or used, or when `$CNAB_CONFIG` names one that is not there.
 */
export async function openConfigFile(
  surroundings: Pick<Surroundings, 'env' | 'cwd'>,
  configFolder: string,
  flags: () => ReadonlyMap<string, FlagShape>,
): Promise<ConfigFile | undefined> {
  const file = configPath(surroundings, configFolder);
  if (!exists(file)) {
    if (!surroundings.env['CNAB_CONFIG']) return undefined;
    throw new CnabError('invalid', `there is no config file ${file}, which CNAB_CONFIG names`);
  }
  const { readConfigFile } = await import('./config-document.js');
  return readConfigFile(file, flags());
}

function exists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A part of the path is a file: then the home is none, which is for the store to say.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw new CnabError('invalid', `the config file ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
