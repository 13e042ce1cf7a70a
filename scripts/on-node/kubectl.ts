import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from '../../test/cluster/case.js';

export interface KubectlEnd {
  readonly stdout: string;
  readonly ms: number;
}

export interface KubectlOptions {
  readonly input?: string;
  /** File that standard output goes to; absent: it is given back. */
  readonly to?: string;
}

/** One kubectl of the node's own version, in the namespace of the case. Rejects when it fails. */
export function kubectl(one: Case, args: readonly string[], options: KubectlOptions = {}): Promise<KubectlEnd> {
  const { input = '', to } = options;
  const program = readFileSync(join(process.env['CNAB_CLUSTER_DIR'] ?? '', 'kube'), 'utf8').trim();
  const file = to === undefined ? undefined : openSync(to, 'w');
  const started = performance.now();
  const child = spawn(program, ['kubectl', '-n', one.namespace, ...args], {
    stdio: ['pipe', file ?? 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  child.stdout?.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()));
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (file !== undefined) closeSync(file);
      const ms = performance.now() - started;
      if (code === 0) resolve({ stdout: text.stdout, ms });
      else reject(new Error(`kubectl ${args.join(' ')}: exit ${code}\n${text.stderr}`));
    });
  });
}
