import { closeSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Case } from '../../test/cluster/case.js';
import { eventually } from '../../test/cluster/eventually.js';
import { TOOL } from '../../test/cluster/bundle.js';
import { auditFromNow } from '../on-node/audit.js';
import { kubectl } from '../on-node/kubectl.js';
import { atUptime } from '../on-node/uptime.js';

/** A pod whose container runs a shell text; resolves when the text has made /out/ready. */
export async function startPod(one: Case, name: string, script: string): Promise<void> {
  await one.api.create(`/api/v1/namespaces/${one.namespace}/pods`, {
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'main',
          image: TOOL,
          // Kubernetes turns $$ into $.
          command: ['sh', '-c', script.replaceAll('$', '$$$$')],
          volumeMounts: [{ name: 'out', mountPath: '/out' }],
        },
      ],
      volumes: [{ name: 'out', emptyDir: {} }],
    },
  });
  await eventually(`pod ${name} has its files`, 300, async () => {
    await kubectl(one, ['exec', name, '--', 'test', '-e', '/out/ready']);
    return true;
  });
}

/** `kubectl cp` of a file of the waiting pod `source`, the whole command; milliseconds. It checks nothing. */
export async function copyFile(one: Case, path: string, bytes: number): Promise<number> {
  const to = join(one.home, 'copied');
  const { ms } = await kubectl(one, ['cp', `source:${path}`, to]);
  if (statSync(to).size !== bytes) throw new Error(`kubectl cp brought ${statSync(to).size} of ${bytes} bytes`);
  rmSync(to);
  return ms;
}

export interface CopiedFolder {
  /** From the exec request at the API server to the end of the command. */
  readonly request: number;
  /** With its start. */
  readonly command: number;
}

/** `kubectl exec … tar` of a folder of the waiting pod `source` to a file; milliseconds. */
export async function copyFolder(one: Case, path: string): Promise<CopiedFolder> {
  const to = join(one.home, 'copied');
  const audit = auditFromNow(one);
  const { ms } = await kubectl(one, ['exec', 'source', '--', 'tar', '-C', path, '-cf', '-', '.'], { to });
  const ended = Date.now();
  rmSync(to);
  const asked = audit().find(({ objectRef }) => objectRef?.subresource === 'exec')?.requestReceivedTimestamp ?? '';
  return { request: ended - Date.parse(asked), command: ms };
}

export interface FollowedLog {
  /** From the start of base64 in the container to the last byte in the file of `kubectl logs -f`; milliseconds. */
  readonly ms: number;
  /** Bytes of base64 that did not come. */
  readonly lost: number;
}

/** A container writes `bytes` random bytes to its log with `base64 -w 12288`, while `kubectl logs -f` reads it. */
export async function followLog(one: Case, round: number, bytes: number): Promise<FollowedLog> {
  const name = `log-${round}`;
  const to = join(one.home, 'followed');
  const script = `head -c ${bytes} /dev/urandom > /out/file; : > /out/ready; until [ -e /out/go ]; do sleep 0.1; done
    read now _ < /proc/uptime; echo "up $now"; base64 -w 12288 /out/file; sleep 1`;
  await startPod(one, name, script);
  const following = kubectl(one, ['logs', '-f', name], { to });
  // The reader is to be there first, as ours is.
  await delay(2000);
  await kubectl(one, ['exec', name, '--', 'touch', '/out/go']);
  await following;
  const { size, mtimeMs } = statSync(to);
  const head = firstBytes(to, 100);
  rmSync(to);
  await one.api.remove(`/api/v1/namespaces/${one.namespace}/pods/${name}`);
  const first = /^up (\d+\.\d+)$/m.exec(head) ?? [];
  const encoded = Math.ceil(bytes / 3) * 4;
  const wanted = encoded + Math.ceil(encoded / 12288) + `${first[0]}\n`.length;
  return { ms: mtimeMs - atUptime(Number(first[1])), lost: wanted - size };
}

function firstBytes(file: string, count: number): string {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(count);
    return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, count, 0));
  } finally {
    closeSync(descriptor);
  }
}
