import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Case } from '../../test/cluster/case.js';
import type { TcpProxyOptions } from '../../test/helpers/tcp-proxy.js';
import { endSidecars } from '../on-node/end-sidecars.js';
import { watchPeakMemory } from '../on-node/peak-memory.js';
import { proxiedUser } from '../on-node/proxied-user.js';
import { storedDigests } from '../on-node/stored-outputs.js';

export interface SoakCase {
  readonly title: string;
  readonly runs: number;
  /** Of them at a time. */
  readonly jobs: number;
  /** Bytes of each output. */
  readonly sizes: readonly number[];
  readonly via: 'log' | 'exec';
  readonly line: Omit<TcpProxyOptions, 'host' | 'port'>;
  readonly flags?: readonly string[];
}

export interface SoakRun {
  /** Absent: all bytes came and are equal. */
  readonly problem?: string;
  readonly seconds: number;
  readonly cuts: number;
  /** Rotated files of the sidecar's log that were seen at once. */
  readonly rotations: number;
  /** Bytes that the line brought for each byte of the outputs. */
  readonly travelled: number;
  readonly peak: number;
}

/** One install in a namespace and a home of its own. The bundle says the digests of its files in its log; the disk is read here. */
export async function soakOnce(given: SoakCase): Promise<SoakRun> {
  const { sizes, via, line, flags = [] } = given;
  const one = await Case.open();
  try {
    const { proxy, kubeconfig } = await proxiedUser(one, line);
    const outputs = sizes.map((_, index) => `file-${index}`);
    const made = sizes.map((size, index) => `head -c ${size} /dev/urandom > file-${index}`);
    const script = `cd /cnab/app/outputs; ${made.join('; ')}; sha256sum ${outputs.join(' ')}`;
    const began = performance.now();
    const args = ['install', 'app', one.bundle({ script, outputs }), '--json', '--outputs-via', via, ...flags];
    const command = one.start(args, { kubeconfig });
    const memory = watchPeakMemory(command.pid);
    let rotations = 0;
    const timer = setInterval(() => (rotations = Math.max(rotations, rotatedFiles(one))), 500);
    const { code, stderr } = await command.ended;
    clearInterval(timer);
    const figures = {
      seconds: (performance.now() - began) / 1000,
      cuts: proxy.cuts,
      rotations,
      travelled: proxy.bytes / sizes.reduce((sum, size) => sum + size, 0),
      peak: memory.stop(),
    };
    const problem = await problemOf(one, outputs, stderr, code);
    await endSidecars(one);
    return { ...figures, ...(problem === undefined ? {} : { problem }) };
  } finally {
    await one.close();
  }
}

async function problemOf(
  one: Case,
  outputs: readonly string[],
  stderr: string,
  code: number | null,
): Promise<string | undefined> {
  const tail = stderr.trim().split('\n').slice(-4).join(' | ');
  if (code !== 0) return `exit ${code}: ${tail}`;
  const stored = await storedDigests(one.home);
  const different = outputs.filter((name) => {
    const said = new RegExp(`^([0-9a-f]{64})  ${name}$`, 'm').exec(stderr)?.[1];
    return said === undefined || stored.get(name) !== said;
  });
  return different.length === 0
    ? undefined
    : `other bytes, or no digest in the log, of ${different.join(', ')}: ${tail}`;
}

/** The kubelet leaves `0.log.<time>` beside the container's newest log. */
function rotatedFiles(one: Case): number {
  const logs = join(process.env['CNAB_CLUSTER_DIR'] ?? '', 'podlogs');
  return readdirSync(logs)
    .filter((name) => name.startsWith(`${one.namespace}_`))
    .map((name) => count(join(logs, name, 'outputs')))
    .reduce((sum, each) => sum + each, 0);
}

function count(folder: string): number {
  try {
    return readdirSync(folder).filter((name) => /^\d+\.log\.\d/.test(name)).length;
  } catch {
    return 0;
  }
}
