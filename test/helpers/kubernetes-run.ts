import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { plainConnection } from '../../src/driver/kubernetes/connection.js';
import { KubernetesDriver, type KubernetesDriverOptions } from '../../src/driver/kubernetes/driver.js';
import { systemClock, type Clock } from '../../src/driver/clock.js';
import type { DriverIo, Operation, OperationResult, Progress, RunState } from '../../src/driver/driver.js';
import { DEFAULT_SETTINGS, type DriverSettings } from '../../src/driver/settings.js';
import {
  ApiServerFaults,
  ProcessRuntime,
  ScriptedRuntime,
  withApiServer,
  type ContainerScript,
  type TestApiServer,
  type TestApiServerOptions,
} from './api-server.js';
import { fastClock } from './fast-clock.js';
import { operation, RUN_ID } from './operation.js';
import { withFolder } from './staging.js';

/** Polls and grace periods of driver and server alike pass so many times faster. */
const FASTER = 6;

export interface RunParts {
  /** What the bundle does. */
  readonly invocation?: ContainerScript;
  /** Instead of the real script under sh. */
  readonly sidecar?: ContainerScript;
  /** Instead of running the sidecar's postStart hook, where its script is one of the test's. */
  readonly hook?: () => Promise<number>;
  /** Throw an ImageError. */
  readonly pull?: (image: string) => void | Promise<void>;
  readonly operation?: Partial<Operation>;
  readonly settings?: Partial<DriverSettings>;
  readonly server?: TestApiServerOptions;
  readonly faults?: (faults: ApiServerFaults) => void;
  readonly clock?: Clock;
  readonly freeBytes?: () => Promise<number>;
  readonly signal?: AbortSignal;
  readonly io?: Partial<DriverIo>;
  /** Told before the run begins. */
  readonly onStaging?: (folder: string) => void;
  /** Runs beside the run. */
  readonly meanwhile?: (server: TestApiServer) => Promise<void>;
}

export interface FinishedRun {
  readonly result: OperationResult;
  readonly log: string;
  readonly states: readonly RunState[];
  readonly progress: readonly Progress[];
  /** Content of the collected outputs, by name. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly faults: ApiServerFaults;
  /** What `release` warned of. */
  readonly released: readonly string[];
  /** Objects of each kind that were still there when the run had ended and, unless its result says otherwise, was released. */
  readonly left: Readonly<Record<'jobs' | 'pods' | 'secrets', readonly string[]>>;
}

/** Runs an operation through the Kubernetes driver against an API server on loopback, with the real sidecar script under sh. */
export async function runOnApiServer(parts: RunParts = {}): Promise<FinishedRun> {
  const faults = new ApiServerFaults();
  parts.faults?.(faults);
  const scripts = {
    ...(parts.invocation === undefined ? {} : { invocation: parts.invocation }),
    ...(parts.sidecar === undefined ? {} : { outputs: parts.sidecar }),
  };
  const pull = parts.pull === undefined ? {} : { pull: parts.pull };
  const exec = parts.hook === undefined ? {} : { exec: parts.hook };
  const runtime = new ScriptedRuntime({ scripts, otherwise: new ProcessRuntime(), ...pull, ...exec });
  const clock = fastClock(FASTER);
  return withApiServer({ runtime, faults, clock, ...parts.server }, (server) => runOn(server, { clock, ...parts }));
}

/** The same on a server that is there already; the invocation's script is then the server's. */
export function runOn(server: TestApiServer, parts: RunParts = {}): Promise<FinishedRun> {
  return withFolder(async (staging) => {
    const driver = testDriver(server, parts);
    parts.onStaging?.(staging);
    const told = { log: '', states: [] as RunState[], progress: [] as Progress[] };
    try {
      const running = driver.run(operation(parts.operation), {
        staging,
        signal: parts.signal ?? new AbortController().signal,
        onLog: (chunk) => void (told.log += Buffer.from(chunk).toString()),
        onProgress: (progress) => void told.progress.push(progress),
        onState: (state) => Promise.resolve(void told.states.push(state)),
        ...parts.io,
      });
      const [result] = await Promise.all([running, parts.meanwhile?.(server)]);
      const read = result.outputs.map(async ({ name, file }) => [name, await readFile(file, 'utf8')] as const);
      const outputs = Object.fromEntries(await Promise.all(read));
      const state = told.states.at(-1) ?? {};
      const released = result.keep === true ? [] : await driver.release({ runId: RUN_ID, state });
      return { result, ...told, outputs, faults: server.faults, released, left: leftOn(server) };
    } finally {
      await driver.close();
    }
  });
}

export function testDriver(
  server: TestApiServer,
  parts: Pick<RunParts, 'settings' | 'clock' | 'freeBytes'> & Pick<KubernetesDriverOptions, 'process'> = {},
): KubernetesDriver {
  return new KubernetesDriver({
    settings: { ...DEFAULT_SETTINGS, ...parts.settings },
    connect: () => Promise.resolve(plainConnection({ server: server.url, token: server.token, context: 'test' })),
    clock: parts.clock ?? systemClock,
    ...(parts.freeBytes === undefined ? {} : { freeBytes: parts.freeBytes }),
    ...(parts.process === undefined ? {} : { process: parts.process }),
  });
}

function leftOn({ cluster }: TestApiServer): FinishedRun['left'] {
  const names = (kind: 'jobs' | 'pods' | 'secrets'): string[] =>
    cluster.store
      .list(kind)
      .flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [metadata.name] : []));
  return { jobs: names('jobs'), pods: names('pods'), secrets: names('secrets') };
}

/** Script of a bundle that must not be reached. */
export const mustNotRun = (): never => assert.fail('the bundle ran');

/** Nothing has run, nothing is left, and the message has these words. */
export function assertNotRun({ result, left, outputs }: FinishedRun, words: RegExp, code = 'unavailable'): void {
  assert.match(result.error?.message ?? '', words);
  assert.deepEqual([result.status, result.ran, result.exitCode, result.error?.code], ['failed', 'no', undefined, code]);
  assert.deepEqual([outputs, result.problems, result.logComplete], [{}, [], true]);
  assert.deepEqual(left, { jobs: [], pods: [], secrets: [] });
}
