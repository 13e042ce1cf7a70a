import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
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
  RunEnd,
  RunInputs,
  RunSight,
} from '../../src/driver/driver.js';

/** What a scripted run can do, begun here or taken up: print, leave outputs, and note where it is. */
export interface FakeLife {
  readonly io: DriverIo;
  log(text: string): Promise<void>;
  output(name: string, bytes: string | Uint8Array): Promise<void>;
  /** As the real driver does before and after it has posted its Job. */
  posted(): Promise<void>;
}

export interface FakeRun extends FakeLife {
  readonly operation: Operation;
}

export interface FakeResume extends FakeLife {
  readonly begun: BegunRun;
}

type Tool<Run> = (run: Run) => Promise<Partial<OperationResult> | void>;

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
  readonly begun: BegunRun[] = [];
  /** Ids of the runs that were released. */
  readonly released: string[] = [];
  closed = 0;
  /** What is on the target, for a process that takes up a run. */
  resumes: Tool<FakeResume> = () => Promise.reject(new Error('no run was begun'));
  found: readonly FoundRun[] = [];
  inputsOf: (runId: string) => Promise<RunInputs> = () => Promise.reject(new Error('no run was begun'));
  sight: RunSight = { phase: 'absent', detail: 'is not there' };
  follows: (io: Pick<DriverIo, 'signal' | 'onLog'>) => Promise<{ readonly complete: boolean }> = () =>
    Promise.reject(new Error('no run was begun'));
  watches: (io: Pick<DriverIo, 'signal' | 'onProgress'>, run: Pick<BegunRun, 'runId' | 'state'>) => Promise<RunEnd> =
    () => Promise.reject(new Error('no run was begun'));
  holds: (how: Parameters<Driver['hold']>[1], run: Pick<BegunRun, 'runId' | 'state'>) => Promise<void> = () =>
    Promise.resolve();
  onRelease: () => Promise<readonly string[]> = () => Promise.resolve([]);

  constructor(
    private readonly tool: Tool<FakeRun>,
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
    return await live(operation.outputs, io, (life) => this.tool({ ...life, operation }));
  }

  hold(run: Pick<BegunRun, 'runId' | 'state'>, how: Parameters<Driver['hold']>[1]): Promise<void> {
    return this.holds(how, run);
  }

  async resume(begun: BegunRun, io: DriverIo): Promise<OperationResult> {
    this.begun.push(begun);
    return await live(begun.outputs, io, (life) => this.resumes({ ...life, begun }));
  }

  find(_installation: string, _signal: AbortSignal): Promise<readonly FoundRun[]> {
    return Promise.resolve(this.found);
  }

  inputs({ runId }: Pick<BegunRun, 'runId' | 'state'>, _signal: AbortSignal): Promise<RunInputs> {
    return this.inputsOf(runId);
  }

  follow(
    _run: Pick<BegunRun, 'runId' | 'state'>,
    io: Pick<DriverIo, 'signal' | 'onLog'>,
  ): Promise<{ readonly complete: boolean }> {
    return this.follows(io);
  }

  watch(run: Pick<BegunRun, 'runId' | 'state'>, io: Pick<DriverIo, 'signal' | 'onProgress'>): Promise<RunEnd> {
    return this.watches(io, run);
  }

  look(_run: Parameters<Driver['look']>[0], _signal: AbortSignal): Promise<RunSight> {
    return Promise.resolve(this.sight);
  }

  async release({ runId }: Pick<BegunRun, 'runId' | 'state'>): Promise<readonly string[]> {
    const warnings = await this.onRelease();
    this.released.push(runId);
    if (warnings.length === 0) this.sight = { phase: 'absent', detail: 'is not there' };
    return warnings;
  }

  close(): Promise<void> {
    this.closed += 1;
    return Promise.resolve();
  }
}

/** Wants the outputs in the order of `wanted`; a staged file has the index of its output, so a second life finds it again. */
async function live(wanted: Operation['outputs'], io: DriverIo, tool: Tool<FakeLife>): Promise<OperationResult> {
  const outputs: CollectedOutput[] = [];
  const changes = await tool({
    io,
    log: async (text) => io.onLog(Buffer.from(text)),
    output: async (name, content) => {
      const bytes = Buffer.from(content as string);
      const index = wanted.findIndex((output) => output.name === name);
      const file = path.join(io.staging, `${index === -1 ? `x${outputs.length}` : index}.part`);
      await rm(file, { force: true });
      await writeFile(file, bytes, { flag: 'wx', mode: 0o600 });
      outputs.push({ name, file, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    },
    posted: () => io.onState({ namespace: 'default', job: 'cnab-job', jobUid: 'uid-of-job' }),
  });
  const missing = wanted.filter(({ name }) => !outputs.some((output) => output.name === name));
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
