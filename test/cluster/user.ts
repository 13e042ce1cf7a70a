import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1PolicyRule, V1ServiceAccount } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import { ROOT } from '../helpers/run-cnab.js';
import type { Case } from './case.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';

export interface User {
  readonly name: string;
  /** As the API server's authorizer and audit log name it. */
  readonly username: string;
  readonly uid: string;
  readonly token: string;
  readonly kubeconfig: string;
}

/** A service account of the case's namespace with exactly these rights there; for the pod of a bundle, or as a user. */
export async function makeAccount(one: Case, rules: readonly V1PolicyRule[]): Promise<{ name: string; uid: string }> {
  const { api, namespace } = one;
  const name = `user-${randomBytes(3).toString('hex')}`;
  const account = await api.create<V1ServiceAccount>(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name },
  });
  await api.create(`${RBAC}/namespaces/${namespace}/roles`, { metadata: { name }, rules });
  await api.create(`${RBAC}/namespaces/${namespace}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  });
  return { name, uid: account.metadata?.uid ?? '' };
}

/** A user with exactly these rights in the case's namespace, and a kubeconfig that speaks as it. */
export async function makeUser(one: Case, rules: readonly V1PolicyRule[]): Promise<User> {
  const { api, namespace } = one;
  const { name, uid } = await makeAccount(one, rules);
  const { status } = await api.create<{ status: { token: string } }>(
    `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } },
  );
  const kubeconfig = writeKubeconfig(one, name, { token: status.token });
  return { name, username: `system:serviceaccount:${namespace}:${name}`, uid, token: status.token, kubeconfig };
}

/** A kubeconfig of the case's cluster and namespace for a user entry such as `{ token }` or `{ exec }`. */
export function writeKubeconfig(one: Case, name: string, user: object, server = one.api.server): string {
  const cluster = server.startsWith('http:')
    ? { server }
    : { server, 'certificate-authority-data': one.api.certificateAuthority };
  const file = join(one.home, `kubeconfig-${name}`);
  // JSON is YAML.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name, user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: name, namespace: one.namespace } }],
    'current-context': 'test',
  };
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

/** The rules of the Role in the README, for a namespace. */
export function readmeRules(namespace = 'NAMESPACE'): V1PolicyRule[] {
  const readme = readFileSync(`${ROOT}/README.md`, 'utf8');
  const text = /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(readme)?.[1] ?? '';
  return (load(text.replaceAll('NAMESPACE', namespace)) as { rules: V1PolicyRule[] }).rules;
}

/** The same rules without one verb on one resource. */
export function without(rules: readonly V1PolicyRule[], verb: string, resource: string): V1PolicyRule[] {
  return rules.flatMap((rule) => {
    const verbs = rule.resources?.[0] === resource ? rule.verbs.filter((each) => each !== verb) : rule.verbs;
    return verbs.length === 0 ? [] : [{ ...rule, verbs }];
  });
}
