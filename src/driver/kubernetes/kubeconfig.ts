import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CnabError } from '../../errors.js';
import { parseKubeconfig } from './kubeconfig-file.js';
import type { Entry, KubeconfigFile } from './kubeconfig-file.js';

export interface KubeconfigSource {
  /** `--kubeconfig`: a file, or a list as in $KUBECONFIG. */
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder. */
  readonly home: string;
  /** Base of relative file names. */
  readonly cwd?: string;
}

/** One context with what it names; the fields of `cluster` and `user` as kubeconfig has them, paths absolute. */
export interface SelectedContext {
  /** The file that has the context. */
  readonly file: string;
  readonly name: string;
  readonly namespace?: string;
  readonly clusterName: string;
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly userName?: string;
  readonly user: Readonly<Record<string, unknown>>;
  /** Folder of the file that has the user: base of a credential plugin's relative path. */
  readonly userFolder: string;
}

/**
 * Finds and merges the kubeconfig files as kubectl does (client-go, tools/clientcmd/loader.go: missing files of a list
 * are skipped, the first file that has an entry or a current-context wins) and selects a context.
 *
 * @returns undefined when nothing names a kubeconfig and ~/.kube/config does not exist
 * @throws CnabError `unavailable` when the files that were named do not exist, `invalid` when they cannot be used
 */
export async function selectContext(source: KubeconfigSource): Promise<SelectedContext | undefined> {
  const named = source.kubeconfig || source.env['KUBECONFIG'];
  const list = named
    ? named.split(path.delimiter).filter((file) => file !== '')
    : [path.join(source.home, '.kube', 'config')];
  const files: KubeconfigFile[] = [];
  for (const file of list) {
    const parsed = await readOne(path.resolve(source.cwd ?? '.', file));
    if (parsed !== undefined) files.push(parsed);
  }
  if (files.length > 0) return choose(files, source.context);
  if (!named) return undefined;
  const origin = source.kubeconfig ? '--kubeconfig' : '$KUBECONFIG';
  throw new CnabError('unavailable', `no cluster: ${origin} names ${list.join(', ')}, which does not exist`, {
    suggestions: [
      `Correct ${origin}, or leave it out for ~/.kube/config.`,
      ...(list.some((file) => file.startsWith('~')) ? ['A quoted ~ is not replaced by the shell: write $HOME.'] : []),
    ],
  });
}

async function readOne(file: string): Promise<KubeconfigFile | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const why = code === 'EISDIR' ? 'it is a folder' : code === 'EACCES' ? 'permission denied' : String(code);
    throw new CnabError('invalid', `cannot read the kubeconfig ${file}: ${why}`, { cause });
  }
  return parseKubeconfig(file, text);
}

function choose(files: readonly KubeconfigFile[], wanted: string | undefined): SelectedContext {
  const names = files.map(({ file }) => file).join(', ');
  const contexts = merge(files, 'contexts');
  const name = wanted ?? files.map((file) => file.currentContext).find((context) => context !== undefined);
  const existing = contexts.size === 0 ? 'it has none' : `it has: ${[...contexts.keys()].sort().join(', ')}`;
  if (name === undefined) {
    const empty = files.every((file) => file.empty);
    const what = empty
      ? 'is empty'
      : `has no current-context (contexts: ${[...contexts.keys()].sort().join(', ') || 'none'})`;
    throw new CnabError('invalid', `the kubeconfig ${names} ${what}`, {
      suggestions: contexts.size === 0 ? [] : ['Choose one with --context NAME.'],
    });
  }
  const context = contexts.get(name);
  if (context === undefined) {
    throw new CnabError('invalid', `the kubeconfig ${names} has no context "${name}"; ${existing}`, {
      suggestions: ['Choose one with --context NAME.'],
    });
  }
  const refer = (kind: 'cluster' | 'user'): { name: string; entry: Entry } | undefined => {
    const target = context.value[kind];
    if (target === undefined || target === null || target === '') return undefined;
    const entry =
      typeof target === 'string' ? merge(files, kind === 'cluster' ? 'clusters' : 'users').get(target) : undefined;
    if (entry !== undefined) return { name: target as string, entry };
    throw new CnabError(
      'invalid',
      `context "${name}" in ${context.file} names the ${kind} ${JSON.stringify(target)}, which ${names} does not have`,
    );
  };
  const cluster = refer('cluster');
  if (cluster === undefined) throw new CnabError('invalid', `context "${name}" in ${context.file} names no cluster`);
  const user = refer('user');
  const namespace = context.value['namespace'];
  return {
    file: context.file,
    name,
    ...(typeof namespace === 'string' && namespace !== '' ? { namespace } : {}),
    clusterName: cluster.name,
    cluster: absolute(cluster.entry, ['certificate-authority']),
    ...(user === undefined ? {} : { userName: user.name }),
    user:
      user === undefined ? {} : absolute(user.entry, ['client-certificate', 'client-key', 'tokenFile', 'token-file']),
    userFolder: path.dirname((user?.entry ?? context).file),
  };
}

function merge(files: readonly KubeconfigFile[], kind: 'clusters' | 'users' | 'contexts'): ReadonlyMap<string, Entry> {
  const merged = new Map<string, Entry>();
  for (const file of files) for (const entry of file[kind]) if (!merged.has(entry.name)) merged.set(entry.name, entry);
  return merged;
}

/** Paths in a kubeconfig are relative to the file that has them. */
function absolute(entry: Entry, keys: readonly string[]): Readonly<Record<string, unknown>> {
  const value: Record<string, unknown> = { ...entry.value };
  for (const key of keys) {
    const file = value[key];
    if (typeof file === 'string' && file !== '') value[key] = path.resolve(path.dirname(entry.file), file);
  }
  return value;
}
