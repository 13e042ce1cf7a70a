import { readFile } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { CnabError } from '../../errors.js';

const SERVICE_ACCOUNT_ROOT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What a pod is given to speak to its own API server (Kubernetes docs, "Access the API from within a pod"). */
export interface InCluster {
  readonly server: string;
  readonly caFile: string;
  readonly tokenFile: string;
  readonly namespace?: string;
}

/** Undefined outside of a pod, and in a pod without a service account token. Rejects with CnabError `invalid` for no address. */
export async function findInCluster(
  env: Readonly<Record<string, string | undefined>>,
  root: string = SERVICE_ACCOUNT_ROOT,
): Promise<InCluster | undefined> {
  const host = env['KUBERNETES_SERVICE_HOST']?.trim();
  const port = env['KUBERNETES_SERVICE_PORT']?.trim();
  const tokenFile = path.join(root, 'token');
  if (!host || !port || (await readTrimmed(tokenFile)) === undefined) return undefined;
  const server = `https://${net.isIPv6(host) ? `[${host}]` : host}:${port}`;
  if (!URL.canParse(server)) {
    const given = JSON.stringify([host, port]).slice(1, -1);
    throw new CnabError('invalid', `KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are no address: ${given}`);
  }
  const namespace = await readTrimmed(path.join(root, 'namespace'));
  return {
    server,
    caFile: path.join(root, 'ca.crt'),
    tokenFile,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** Mounts made by hand end in a newline, which is no part of a token or namespace. */
async function readTrimmed(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim() || undefined;
  } catch {
    return undefined;
  }
}
