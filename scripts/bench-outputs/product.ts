import assert from 'node:assert/strict';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Case, ProducedOutput } from '../../test/cluster/case.js';
import { auditFromNow, firstExec } from '../on-node/audit.js';
import { endSidecars } from '../on-node/end-sidecars.js';
import { watchPeakMemory } from '../on-node/peak-memory.js';
import { storedOutputs } from '../on-node/stored-outputs.js';
import { atUptime } from '../on-node/uptime.js';

/** One install of a bundle whose outputs are what is measured. Times in milliseconds. */
export interface Install {
  /** Shell text that makes the files. */
  readonly script: string;
  readonly outputs: readonly string[];
  readonly via: 'log' | 'exec';
  readonly flags?: readonly string[];
  /** Bytes of all outputs together, to be sure that they have come. */
  readonly bytes: number;
}

export interface InstallTimes {
  /**
   * From the first exec that asks for an output (the API server's audit log), by the log from the creation of the first
   * file in staging, which is when the manifest was proven; to the last write to an output. A file of one block is proven
   * before it is written, and with the last write of a larger one its digest is complete, so all is proven and on disk then.
   * (That the sidecar may end is told after it, over another connection, as is the record made.)
   */
  readonly transfer: number;
  /** From there to the last output in the record (its inode's change time): the result is settled in between. */
  readonly recorded: number;
  /** From the invocation's own last act to the end of the command: with the digests in the pod, and all settled. */
  readonly whole: number;
  /** Most memory that the command has had, in bytes. */
  readonly peak: number;
}

/** Installs, measures, and removes the record again. */
export async function measureInstall(one: Case, given: Install): Promise<InstallTimes> {
  const { outputs, via, flags = [], bytes } = given;
  const script = `cd /cnab/app/outputs; ${given.script}; read now _ < /proc/uptime; echo "up $now"`;
  const audit = auditFromNow(one);
  const command = one.start([
    ...['install', 'app', one.bundle({ script, outputs }), '--json', '--outputs-via', via],
    ...flags,
  ]);
  const memory = watchPeakMemory(command.pid);
  const { code, document, stderr } = await one.acted(command);
  const ended = Date.now();
  const peak = memory.stop();
  assert.equal(code, 0, stderr);
  assert.equal(total(document.outputs), bytes, stderr);
  const up = atUptime(Number(/^up (\d+\.\d+)$/m.exec(stderr)?.[1]));
  // The log of the bundle is an output too, and not one of these.
  const isOne = (file: string): boolean => outputs.some((name) => file.endsWith(`-${name}`));
  const files = storedOutputs(one.home)
    .filter(isOne)
    .map((file) => statSync(file));
  assert.equal(files.length, outputs.length);
  const entries = audit();
  const asked = firstExec(entries, 'files|range');
  assert.equal(asked !== undefined, via === 'exec', `the outputs did not travel by ${via}`);
  const began = asked ?? Math.min(...files.map(({ birthtimeMs }) => birthtimeMs));
  const proven = Math.max(...files.map(({ mtimeMs }) => mtimeMs));
  const recorded = Math.max(...files.map(({ ctimeMs }) => ctimeMs)) - began;
  await one.run(['uninstall', 'app', '--delete-record', '--yes']);
  // The pod that is compared with stays.
  await endSidecars(one);
  rmSync(join(one.home, 'cnab'), { recursive: true, force: true });
  return { transfer: proven - began, recorded, whole: ended - up, peak };
}

function total(outputs: readonly ProducedOutput[]): number {
  return outputs.reduce((sum, { size }) => sum + size, 0);
}
