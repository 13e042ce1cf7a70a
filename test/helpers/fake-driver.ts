import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Target } from '../../src/claim/target.js';
import type {
  BegunRun,
  CollectedOutput,
  Driver,
  DriverIo,
  FoundRun,
  Operation,
  OperationResult,
  RunInputs,
  RunSight,
} from '../../src/driver/driver.js';

/** What the scripted run tool can do: print and leave outputs. */
export interface FakeRun {
  readonly operation: Operation;
  readonly io: DriverIo;
  log(text: string): Promise<void>;
  output(name: string, bytes: string | Uint8Array): Promise<void>;
}

export const FAKE_TARGET: Target = {
  id: 'fake-cluster',
  driver: 'kubernetes',
  label: 'test/default',
  context: 'test',
  server: 'https://127.0.0.1:6443',
  namespace: 'default',
  uid: 'uid-1',
};

/** A Driver whose run tool is a function of the test; it returns what differs from a success. */
export class FakeDriver implements Driver {
  readonly operations: Operation[] = [];
  closed = 0;

  constructor(
    private readonly tool: (run: FakeRun) => Promise<Partial<OperationResult> | void>,
    private readonly where: Target = FAKE_TARGET,
  ) {}

  target(): Promise<Target> {
    return Promise.resolve(this.where);
  }

  handles(imageType: string): boolean {
    return imageType === 'oci' || imageType === 'docker';
  }

  check(_operation: Operation): void {}

  async run(operation: Operation, io: DriverIo): Promise<OperationResult> {
    this.operations.push(operation);
    const outputs: CollectedOutput[] = [];
    const changes = await this.tool({
      operation,
      io,
      log: async (text) => io.onLog(Buffer.from(text)),
      output: async (name, content) => {
        const bytes = Buffer.from(content as string);
        const file = path.join(io.staging, `${outputs.length}.part`);
        await writeFile(file, bytes, { flag: 'wx', mode: 0o600 });
        outputs.push({ name, file, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
      },
    });
    const missing = operation.outputs.filter(({ name }) => !outputs.some((output) => output.name === name));
    return {
      status: 'succeeded',
      ran: 'yes',
      exitCode: 0,
      outputs,
      problems: missing.map(({ name }) => ({ name, kind: 'missing', reason: 'was not written' })),
      logComplete: true,
      warnings: [],
      ...changes,
    };
  }

  resume(_run: BegunRun, _io: DriverIo): Promise<OperationResult> {
    throw new Error('no run was begun');
  }

  find(_installation: string, _signal: AbortSignal): Promise<readonly FoundRun[]> {
    return Promise.resolve([]);
  }

  inputs(_run: Pick<BegunRun, 'runId' | 'state'>, _signal: AbortSignal): Promise<RunInputs> {
    throw new Error('no run was begun');
  }

  follow(
    _run: Pick<BegunRun, 'runId' | 'state'>,
    _io: Pick<DriverIo, 'signal' | 'onLog'>,
  ): Promise<{ readonly complete: boolean }> {
    throw new Error('no run was begun');
  }

  look(_run: Pick<BegunRun, 'runId' | 'state'>, _signal: AbortSignal): Promise<RunSight> {
    return Promise.resolve({ phase: 'absent', detail: 'is not there' });
  }

  release(_run: Pick<BegunRun, 'runId' | 'state'>): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  close(): Promise<void> {
    this.closed += 1;
    return Promise.resolve();
  }
}
