import { createHash } from 'node:crypto';
import type { Target } from './target.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;

/**
 * The id of a Kubernetes target: by the UID of the namespace (or of its `kube-root-ca.crt`, which stands in for it), or,
 * where neither may be read, by server and namespace. Letters, digits and `-` only.
 */
export function kubernetesTargetId(
  by: { readonly uid: string } | { readonly server: string; readonly namespace: string },
): string {
  if ('uid' in by) {
    const uid = by.uid.toLowerCase();
    return `kubernetes-${UUID.test(uid) ? uid : shortHash(by.uid)}`;
  }
  return `kubernetes-at-${shortHash(JSON.stringify([plainServer(by.server), by.namespace]))}`;
}

/** The one target of the sandbox driver. */
export function sandboxTarget(): Target {
  return { id: 'sandbox', driver: 'sandbox', label: 'sandbox' };
}

/** One spelling for one server: `https://Host:443/` and `https://host` are the same. */
function plainServer(server: string): string {
  try {
    const { origin, pathname } = new URL(server);
    return origin === 'null' ? server : origin + pathname.replace(/\/+$/u, '');
  } catch {
    return server;
  }
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
