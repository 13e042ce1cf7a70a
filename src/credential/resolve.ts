import { resolve } from 'node:path';
import type { CredentialResolver } from '../action/request.js';
import { shellWord } from '../bundle/shell-word.js';
import { CnabError } from '../errors.js';
import { MAX_DOCUMENT_BYTES } from './document.js';
import { locateSet } from './locate.js';
import { readLimited, readStream, SourceProblem } from './read-limited.js';
import { parseSet, type SetEntry, type SetKind, type SourceSet } from './set.js';
import { parseSingles, type SingleCredential } from './single.js';
import { MAX_CREDENTIAL_BYTES, resolveSource, type Surroundings } from './source.js';

export interface CredentialOptions extends Surroundings {
  /** NAME or FILE of credential sets (`-c`); of two that have a credential the later one counts. */
  readonly sets: readonly string[];
  /** `--credential k=…`; they beat the sets. */
  readonly single: readonly string[];
  /** Folder that holds `credentials/`. */
  readonly home: string;
  /** For `k=-`. */
  readonly stdin?: AsyncIterable<Uint8Array | string>;
  /** What a verbose run says: which set was overruled. */
  readonly onNote?: (sentence: string) => void;
}

/**
 * Throws CnabError `invalid` at once for a `--credential` that cannot be read. The resolver reads the sets and, of their
 * sources, only those of the names it is asked for, one after the other (two commands may want the terminal).
 * It rejects with CnabError `not-found` for a set that is not there, `invalid` for sets or sources that fail, all at once.
 */
export function createCredentialResolver(options: CredentialOptions): CredentialResolver {
  const singles = new Map(parseSingles(options.single).map((single) => [single.name, single]));
  return async (names) => {
    const entries = await loadEntries(options);
    const found = new Map<string, Uint8Array>();
    const failures: { readonly name: string; readonly problem: string }[] = [];
    for (const name of new Set(names)) {
      const single = singles.get(name);
      const entry = entries.get(name);
      if (single === undefined && entry === undefined) continue;
      const where = single === undefined ? ` (${entry?.where})` : ' (--credential)';
      try {
        if (single !== undefined) found.set(name, await resolveSingle(single, options));
        else if (entry !== undefined) found.set(name, await resolveSource(entry.source, options, MAX_CREDENTIAL_BYTES));
      } catch (error) {
        if (!(error instanceof SourceProblem)) throw error;
        failures.push({ name, problem: `credential "${name}"${where}: ${error.message}` });
      }
    }
    if (failures.length > 0) {
      throw new CnabError('invalid', 'these credentials could not be read:', {
        details: failures.map(({ problem }) => problem),
        suggestions: [`Name another source for each: ${failures.map(({ name }) => sourceFlag(name)).join(' ')}`],
      });
    }
    return found;
  };
}

/** A flag to paste and complete: `--credential token=env:TOKEN`. */
export function sourceFlag(name: string): string {
  const variable = name
    .toUpperCase()
    .replace(/[^A-Z0-9]+/gu, '_')
    .replace(/^(?=\d)/u, '_');
  return `--credential ${shellWord(`${name}=env:${variable}`)}`;
}

/** Reads a credential set by NAME or FILE. Rejects with CnabError. */
async function loadSet(given: string, places: { readonly home: string; readonly cwd: string }): Promise<SourceSet> {
  const { path } = await locateSet(given, 'credential', places);
  return await parseSet(await readSetFile(path, 'credential'), 'credential', path);
}

/** Rejects with CnabError `invalid` where the file cannot be read, or is too large. */
export async function readSetFile(path: string, kind: SetKind): Promise<Uint8Array> {
  try {
    return await readLimited(path, MAX_DOCUMENT_BYTES);
  } catch (error) {
    if (!(error instanceof SourceProblem)) throw error;
    throw new CnabError('invalid', `the ${kind} set cannot be read: ${error.message}`);
  }
}

async function loadEntries(options: CredentialOptions): Promise<ReadonlyMap<string, SetEntry>> {
  const entries = new Map<string, SetEntry>();
  const errors: CnabError[] = [];
  for (const given of options.sets) {
    try {
      for (const entry of (await loadSet(given, options)).entries) {
        const before = entries.get(entry.name);
        if (before !== undefined)
          options.onNote?.(`credential "${entry.name}" is taken from ${entry.where}, not ${before.where}`);
        entries.set(entry.name, entry);
      }
    } catch (error) {
      if (!(error instanceof CnabError)) throw error;
      errors.push(error);
    }
  }
  const [first, second] = errors;
  if (first !== undefined && second === undefined) throw first;
  if (first !== undefined) {
    throw new CnabError(first.code, 'these credential sets cannot be used:', {
      details: errors.flatMap(({ message, details }) => [message, ...details]),
      suggestions: [...new Set(errors.flatMap(({ suggestions }) => suggestions))],
    });
  }
  return entries;
}

/** What was typed is taken as it is: the shell has expanded it. */
async function resolveSingle({ source }: SingleCredential, options: CredentialOptions): Promise<Uint8Array> {
  switch (source.kind) {
    case 'stdin':
      if (options.stdin === undefined) throw new SourceProblem('there is no standard input');
      return await readStream(options.stdin, 'standard input', MAX_CREDENTIAL_BYTES);
    case 'path':
      return await readLimited(resolve(options.cwd, source.text), MAX_CREDENTIAL_BYTES);
    case 'env':
      return await resolveSource({ kind: 'env', variable: source.text }, options, MAX_CREDENTIAL_BYTES);
    case 'command':
      return await resolveSource({ kind: 'command', command: source.text }, options, MAX_CREDENTIAL_BYTES);
  }
}
