import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Assembler } from '../../src/frame/assemble.js';
import type { Way } from '../../src/frame/delivery.js';
import { sha256 } from './encode-frames.js';
import { RUN, SHELLS, makeFolders, startSidecar, type Sidecar, type SidecarOptions } from './run-sidecar.js';
import { withFolder } from './staging.js';
import { until } from './until.js';

const MIB = 1_048_576;
export const LIMITS = { maxOutputBytes: 64 * MIB, maxTotalBytes: 64 * MIB };
export const EXEC: Way = { via: 'exec', maxLogBytes: 64 * MIB, inLog: 'not-sensitive' };
export const LOG: Way = { via: 'log', maxLogBytes: 64 * MIB, inLog: 'not-sensitive' };

export interface Trial {
  readonly sidecar: Sidecar;
  readonly assembler: Assembler;
  readonly outputs: string;
  /** The log without its data, so far: what is cheap to look at again and again. */
  readonly told: () => string;
  /** Lets the invocation end, and waits for the manifest. */
  readonly end: () => Promise<void>;
}

/** The same in every shell at the same time: most of it is waiting. */
export async function underEveryShell(
  options: Omit<SidecarOptions, 'root' | 'shell'>,
  files: Readonly<Record<string, Uint8Array | string>>,
  check: (trial: Trial) => Promise<void>,
): Promise<void> {
  const one = (shell: SidecarOptions['shell']): Promise<void> =>
    withFolder(async (root) => {
      const outputs = await makeFolders(root);
      const staging = join(root, 'staging');
      await mkdir(staging);
      for (const [path, content] of Object.entries(files)) await writeFile(join(outputs, path), content);
      const sidecar = await startSidecar({ limits: LIMITS, ...options, root, shell });
      const told = withoutData(sidecar);
      try {
        const assembler = await Assembler.open({ runId: RUN, wanted: options.wanted.length, staging, limits: LIMITS });
        const end = async (): Promise<void> => {
          await sidecar.ready();
          sidecar.child.kill('SIGTERM');
          await until('the manifest', () => told().includes(' manifest '), 10);
        };
        await check({ sidecar, assembler, outputs, told, end });
      } catch (error) {
        throw new Error(`under ${shell.name}`, { cause: error });
      } finally {
        sidecar.child.kill('SIGKILL');
        await sidecar.ended();
      }
    });
  await Promise.all(SHELLS.map(one));
}

function withoutData({ child }: Sidecar): () => string {
  let told = '';
  let half = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    const lines = (half + chunk.toString('latin1')).split('\n');
    half = lines.pop() ?? '';
    told += lines.map((line) => (line.includes(' data ') ? '' : `${line}\n`)).join('');
  });
  return () => told;
}

/** `index block` of each header, in order. */
export const blocks = (told: string): string[] =>
  [...told.matchAll(/ block (\d+ \d+) /g)].map(([, block]) => block ?? '');
/** Whole ones. */
export const passes = (told: string): number => told.match(/ end [0-9a-f]{64} \./g)?.length ?? 0;
/** Neither as it is nor in base64, nor its digest. */
export const isNowhereIn = (log: Buffer, secret: Buffer): void => {
  const text = log.toString('latin1');
  for (const form of [secret.toString('latin1'), secret.toString('base64').slice(0, 12), sha256(secret)])
    assert.ok(!text.includes(form));
};
