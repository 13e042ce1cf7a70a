import { CnabError } from '../../errors.js';
import { isRecord, textOf } from './kubeconfig-file.js';
import type { SelectedContext } from './kubeconfig.js';

/** Kubernetes docs, "User impersonation": header names and the encoding of the keys of `extra`. */
export function impersonationOf(selected: SelectedContext): Readonly<Record<string, string | string[]>> {
  const { user } = selected;
  const headers: Record<string, string | string[]> = {};
  const add = (name: string, value: string | readonly string[] | undefined): void => {
    if (value === undefined || value.length === 0) return;
    headers[name] = typeof value === 'string' ? value : [...value];
  };
  add('impersonate-user', textOf(user, 'as'));
  add('impersonate-uid', textOf(user, 'as-uid'));
  add('impersonate-group', texts(user['as-groups']));
  const extra = user['as-user-extra'];
  for (const [key, value] of Object.entries(isRecord(extra) ? extra : {})) {
    add(`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`, texts(value));
  }
  for (const value of Object.values(headers).flat()) {
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new CnabError(
        'invalid',
        `user "${selected.userName ?? ''}" in ${selected.file} impersonates a name that no HTTP header can hold`,
      );
    }
  }
  return headers;
}

function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : undefined;
}
