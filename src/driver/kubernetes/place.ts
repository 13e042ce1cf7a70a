import type { V1ConfigMap, V1Namespace } from '@kubernetes/client-node';
import { CnabError } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { isAlreadyExists, isForbidden, isNotFound } from './kubernetes-error.js';
import { resource } from './resources.js';

/** The namespace a run goes to, as far as the user may look at it. */
export interface Place {
  readonly namespace: string;
  /** What the namespace is known by: its own UID, else that of its `kube-root-ca.crt`. Absent: neither may be read. */
  readonly uid?: { readonly of: 'namespace' | 'root-ca'; readonly value: string };
  /** The namespace enforces the Pod Security Standard `restricted`. */
  readonly restricted: boolean;
}

/** Native sidecars are on by default since 1.29 (KEP-753); an older API server drops the field, and the pod hangs for ever. */
const OLDEST = { major: 1, minor: 29 } as const;

/**
 * Nothing runs yet and somebody waits: a server that takes the connection and never answers is told of after half a
 * minute, where a call of a run that goes on is repeated for minutes.
 */
const FIRST_CONTACT = { timeoutMs: 15_000, attempts: 2 } as const;

/** RFC 1123 label, as the API server demands it of namespaces. */
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const ENFORCE = 'pod-security.kubernetes.io/enforce';

/** Rejects with CnabError `unavailable` when the server is too old to run what we make. */
export async function checkVersion(api: KubernetesApi, signal: AbortSignal): Promise<void> {
  const version = await api.serverVersion({ doing: 'read the version of the cluster', signal, ...FIRST_CONTACT });
  const isOld = version.major < OLDEST.major || (version.major === OLDEST.major && version.minor < OLDEST.minor);
  if (!isOld) return;
  throw new CnabError(
    'unavailable',
    `the cluster ${api.connection.server} runs Kubernetes ${version.gitVersion}, and ${OLDEST.major}.${OLDEST.minor} is the oldest that has native sidecars, by which outputs leave a pod`,
    { suggestions: ['upgrade the cluster, or name another one with --context'] },
  );
}

/** What to do about a namespace that is not there; `suppose`: go on as if it had been made. */
export type WhenAbsent = 'refuse' | 'create' | 'suppose';

/**
 * Looks at the namespace; makes it only where it is absent and `whenAbsent` says so, because a target has no identity before.
 * Rejects with KubernetesError, and with CnabError: `unavailable` for a namespace that is not there, `invalid` for a name that none can have.
 */
export async function findPlace(
  api: KubernetesApi,
  namespace: string,
  whenAbsent: WhenAbsent,
  signal: AbortSignal,
): Promise<Place> {
  if (!NAMESPACE.test(namespace)) {
    throw new CnabError(
      'invalid',
      `${JSON.stringify(namespace)} cannot be the name of a namespace: at most 63 lower-case letters, digits and dashes`,
      { suggestions: ['it comes from --namespace, or from the context of the kubeconfig'] },
    );
  }
  try {
    const found = await api.get<V1Namespace>(resource.namespace(namespace), {
      doing: `read namespace ${namespace}`,
      signal,
      ...FIRST_CONTACT,
    });
    return placeOf(namespace, found);
  } catch (error) {
    if (isForbidden(error)) return await placeFromRootCa(api, namespace, signal);
    if (!isNotFound(error)) throw error;
    if (whenAbsent === 'suppose') return { namespace, restricted: false };
    if (whenAbsent === 'create') return placeOf(namespace, await createNamespace(api, namespace, signal));
    throw new CnabError('unavailable', `there is no namespace ${namespace} on ${api.connection.server}`, {
      suggestions: ['to have it made, add: --create-namespace', 'to name another one, add: --namespace NAME'],
      cause: error,
    });
  }
}

function placeOf(namespace: string, found: V1Namespace): Place {
  const value = found.metadata?.uid;
  return {
    namespace,
    ...(value === undefined ? {} : { uid: { of: 'namespace', value } }),
    restricted: found.metadata?.labels?.[ENFORCE] === 'restricted',
  };
}

async function createNamespace(api: KubernetesApi, namespace: string, signal: AbortSignal): Promise<V1Namespace> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  try {
    return (
      await api.create<V1Namespace>(resource.namespaces(), body, { doing: `create namespace ${namespace}`, signal })
    ).object;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await api.get<V1Namespace>(resource.namespace(namespace), { doing: `read namespace ${namespace}`, signal });
  }
}

/** Every namespace has this ConfigMap (1.20), made with it and gone with it. */
async function placeFromRootCa(api: KubernetesApi, namespace: string, signal: AbortSignal): Promise<Place> {
  try {
    const path = resource.configMap(namespace, 'kube-root-ca.crt');
    const found = await api.get<V1ConfigMap>(path, {
      doing: `read config map kube-root-ca.crt in namespace ${namespace}`,
      signal,
    });
    const value = found.metadata?.uid;
    return { namespace, ...(value === undefined ? {} : { uid: { of: 'root-ca', value } }), restricted: false };
  } catch (error) {
    if (isForbidden(error) || isNotFound(error)) return { namespace, restricted: false };
    throw error;
  }
}
