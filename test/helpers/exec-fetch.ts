import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { KubernetesApi } from '../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../src/driver/kubernetes/connection.js';
import { fetchByExec, type TransferEnd } from '../../src/driver/kubernetes/exec-transfer.js';
import { Assembler } from '../../src/frame/assemble.js';
import { ExecPod, type PodFile } from './exec-pod.js';
import { execServer, type ExecAnswer } from './exec-server.js';
import { ManualClock } from './manual-clock.js';
import { RUN_ID } from './operation.js';
import { withFolder } from './staging.js';

export const SOURCE = { namespace: 'apps', pod: 'p', container: 'outputs' };
const never = new AbortController().signal;
export const LIMITS = { maxOutputBytes: 1e9, maxTotalBytes: 1e9 };

export const file = (size: number, more: Partial<PodFile> = {}): PodFile => ({ bytes: randomBytes(size), ...more });

export interface Fetched {
  readonly end: TransferEnd;
  readonly asked: readonly string[];
  /** Of every file: its bytes are the pod's. */
  readonly equal: readonly boolean[];
  readonly progress: number;
  readonly assembler: Assembler;
}

export interface FetchParts {
  readonly answers?: (pod: ExecPod) => ExecAnswer | readonly ExecAnswer[];
  readonly indices?: readonly number[];
  readonly before?: (assembler: Assembler) => Promise<void>;
  readonly freeBytes?: number;
  readonly skipMs?: number;
}

/** Fetches the files of a pod; reads them back from the staging folder. */
export async function fetchFrom(files: readonly (PodFile | undefined)[], parts: FetchParts = {}): Promise<Fetched> {
  const pod = new ExecPod(files);
  const server = await execServer(parts.answers?.(pod) ?? pod.answer);
  const clock = new ManualClock(parts.skipMs ?? 4000);
  const api = new KubernetesApi(plainConnection({ server: server.url }), { clock });
  try {
    return await withFolder(async (staging) => {
      const { freeBytes } = parts;
      const room = freeBytes === undefined ? {} : { freeBytes: () => Promise.resolve(freeBytes) };
      const assembler = await Assembler.open({ runId: RUN_ID, wanted: files.length, staging, limits: LIMITS, ...room });
      await assembler.accept(pod.log);
      await parts.before?.(assembler);
      let progress = 0;
      const indices = parts.indices ?? files.map((_, index) => index);
      const onProgress = (): void => void progress++;
      const end = await fetchByExec({ api, source: SOURCE, assembler, indices, signal: never, onProgress });
      const { outputs } = await assembler.finish();
      const arrived = new Map(outputs.map((output) => [output.index, output.file]));
      const isEqual = async (given: PodFile | undefined, index: number): Promise<boolean> => {
        const path = arrived.get(index);
        return path !== undefined && given !== undefined && (await readFile(path)).equals(given.bytes);
      };
      return { end, asked: server.asked, equal: await Promise.all(files.map(isEqual)), progress, assembler };
    });
  } finally {
    api.close();
    await server.close();
  }
}
