import { createHash } from 'node:crypto';
import type { Target } from '../../claim/target.js';
import type { Connection } from './connection.js';
import type { Place } from './place.js';

/**
 * The identity behind an installation: the namespace's UID, which no other cluster and no later namespace of that name
 * has. Where neither it nor its stand-in may be read, server and namespace have to do. Pure.
 */
export function kubernetesTarget(
  connection: Pick<Connection, 'server' | 'context' | 'kubeconfig' | 'user'>,
  place: Place,
): Target {
  const { server, context, kubeconfig, user } = connection;
  const { namespace, uid } = place;
  return {
    id: targetId(server, place),
    driver: 'kubernetes',
    label: `${context ?? hostOf(server)}/${namespace}`,
    ...(context === undefined ? {} : { context }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    server,
    namespace,
    ...(uid === undefined ? {} : { uid: uid.value }),
    ...(user === undefined ? {} : { user }),
  };
}

/** Safe as a folder name: a UID comes from a server, and any server can answer anything. */
function targetId(server: string, { namespace, uid }: Place): string {
  if (uid !== undefined && /^[0-9A-Za-z-]{1,64}$/.test(uid.value)) {
    return uid.of === 'namespace' ? `kubernetes-${uid.value}` : `kubernetes-ca-${uid.value}`;
  }
  const identity = uid?.value ?? `${normalized(server)}\n${namespace}`;
  return `kubernetes-at-${createHash('sha256').update(identity).digest('hex').slice(0, 32)}`;
}

/** One spelling for one address: the scheme's own port and a slash at the end say nothing. */
function normalized(server: string): string {
  return URL.canParse(server) ? new URL(server).href.replace(/\/+$/, '') : server;
}

function hostOf(server: string): string {
  return URL.canParse(server) ? new URL(server).host : server;
}
