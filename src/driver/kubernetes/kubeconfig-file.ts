import { load, YAMLException } from 'js-yaml';
import { CnabError } from '../../errors.js';

/** A named cluster, user or context, with the file that it is from. */
export interface Entry {
  readonly name: string;
  readonly file: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface KubeconfigFile {
  readonly file: string;
  readonly empty: boolean;
  readonly currentContext?: string;
  readonly clusters: readonly Entry[];
  readonly users: readonly Entry[];
  readonly contexts: readonly Entry[];
}

/** Throws CnabError `invalid` that says where the file is wrong, and never shows its text: it holds credentials. */
export function parseKubeconfig(file: string, text: string): KubeconfigFile {
  const document = parseYaml(file, text);
  const empty: KubeconfigFile = { file, empty: true, clusters: [], users: [], contexts: [] };
  if (document === undefined || document === null) return empty;
  if (!isRecord(document)) throw new CnabError('invalid', `${file} is not a kubeconfig: it is no YAML mapping`);
  if (document['kind'] !== undefined && document['kind'] !== 'Config') {
    throw new CnabError(
      'invalid',
      `${file} is not a kubeconfig: its kind is ${JSON.stringify(document['kind'])}, not "Config"`,
    );
  }
  const current = document['current-context'];
  return {
    file,
    empty: false,
    ...(typeof current === 'string' && current !== '' ? { currentContext: current } : {}),
    clusters: entries(file, document, 'clusters', 'cluster'),
    users: entries(file, document, 'users', 'user'),
    contexts: entries(file, document, 'contexts', 'context'),
  };
}

function parseYaml(file: string, text: string): unknown {
  try {
    return load(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { mark, reason } = error as { mark?: { line: number; column: number }; reason?: string };
    const place = mark === undefined ? '' : `:${mark.line + 1}:${mark.column + 1}`;
    throw new CnabError('invalid', `${file}${place} is not a kubeconfig: ${reason ?? 'not YAML'}`);
  }
}

function entries(file: string, document: Record<string, unknown>, list: string, kind: string): readonly Entry[] {
  const value = document[list];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new CnabError('invalid', `${file}: ${list} is not a list`);
  return value.map((item: unknown, index) => {
    const name = isRecord(item) ? item['name'] : undefined;
    if (!isRecord(item) || (typeof name !== 'string' && typeof name !== 'number')) {
      throw new CnabError('invalid', `${file}: ${list}[${index}] has no name`);
    }
    const inner = item[kind] ?? {};
    if (!isRecord(inner)) throw new CnabError('invalid', `${file}: ${list}[${index}].${kind} is not a mapping`);
    return { name: String(name), file, value: inner };
  });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string that is not empty. */
export function textOf(record: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = record[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
