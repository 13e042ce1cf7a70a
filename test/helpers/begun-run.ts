import { readFile } from 'node:fs/promises';
import type { KubernetesDriver } from '../../src/driver/kubernetes/driver.js';
import type { V1Job } from '@kubernetes/client-node';
import type { BegunRun, DriverIo, OperationResult, Operation, Progress, RunState } from '../../src/driver/driver.js';
import { planRun } from '../../src/driver/kubernetes/plan.js';
import { buildSecret } from '../../src/driver/kubernetes/secret.js';
import { DEFAULT_SETTINGS, type DriverSettings } from '../../src/driver/settings.js';
import { expectedWay } from '../../src/driver/kubernetes/way.js';
import { operation } from './operation.js';
import {
  ProcessRuntime,
  ScriptedRuntime,
  withApiServer,
  type ContainerScript,
  type TestApiServer,
} from './api-server.js';
import { fastClock } from './fast-clock.js';
import { testDriver, type RunParts } from './kubernetes-run.js';
import { withFolder } from './staging.js';

/** What one process did about a run, until it was done or left. */
export interface Turn {
  readonly result: OperationResult;
  readonly log: string;
  readonly states: readonly RunState[];
  readonly progress: readonly Progress[];
  /** Content of the collected outputs, by name. */
  readonly outputs: Readonly<Record<string, string>>;
}

/** Processes that have to do with one run, one after the other or at the same time, over one server and one staging folder. */
export interface Processes {
  readonly server: TestApiServer;
  readonly staging: string;
  /** Begins the run. */
  readonly run: (io?: Partial<DriverIo>) => Promise<Turn>;
  /** Takes it up by another driver; `state`: the one that was saved last. */
  readonly resume: (more?: Partial<BegunRun>, io?: Partial<DriverIo>) => Promise<Turn>;
  /** The same after it has taken hold of the run, whoever was on it. */
  readonly takeUp: (state: RunState) => Promise<Turn>;
  /** The state that was saved last. */
  readonly state: () => RunState;
  readonly setState: (state: RunState) => void;
  /** Uses a driver of its own. */
  readonly withDriver: <T>(use: (driver: KubernetesDriver) => Promise<T>) => Promise<T>;
}

export type ProcessParts = Pick<
  RunParts,
  'invocation' | 'sidecar' | 'hook' | 'operation' | 'settings' | 'server' | 'faults' | 'freeBytes'
> & {
  /** Of containers that are injected. */
  readonly scripts?: Readonly<Record<string, ContainerScript>>;
  /** Its processes are on `machine-1`, `machine-2` and so on; absent: their Jobs name none. */
  readonly named?: boolean;
  /** Time passes so many times faster for server and processes alike; more where nobody beats, less where a beat must not be missed. */
  readonly faster?: number;
  /** Of whoever takes the run up; absent: the same. */
  readonly takerSettings?: Partial<DriverSettings>;
};

const FASTER = 6;

/** Runs `act` with a server on which nothing has begun. */
export function withProcesses<T>(parts: ProcessParts, act: (processes: Processes) => Promise<T>): Promise<T> {
  const clock = fastClock(parts.faster ?? FASTER);
  const { invocation, sidecar } = parts;
  const scripts = {
    ...parts.scripts,
    ...(invocation === undefined ? {} : { invocation }),
    ...(sidecar === undefined ? {} : { outputs: sidecar }),
  };
  const hook = parts.hook === undefined ? {} : { exec: parts.hook };
  const runtime = new ScriptedRuntime({ scripts, otherwise: new ProcessRuntime(), ...hook });
  return withApiServer({ runtime, clock, ...parts.server }, (server) =>
    withFolder(async (staging) => {
      parts.faults?.(server.faults);
      const asked = operation(parts.operation);
      let state: RunState = {};
      let machines = 0;
      const { settings = {}, takerSettings = settings } = parts;
      const withDriver = async <T>(
        use: (driver: KubernetesDriver) => Promise<T>,
        its: Partial<DriverSettings> = takerSettings,
      ): Promise<T> => {
        const process = { host: `machine-${++machines}`, pid: 1 };
        const named = parts.named === true ? { process } : {};
        const driver = testDriver(server, { ...parts, ...named, settings: its, clock });
        try {
          return await use(driver);
        } finally {
          await driver.close();
        }
      };
      const turn = (
        io: Partial<DriverIo> = {},
        drive: (driver: KubernetesDriver, io: DriverIo) => Promise<OperationResult>,
        its?: Partial<DriverSettings>,
      ): Promise<Turn> =>
        withDriver(async (driver) => {
          const told = { log: '', states: [] as RunState[], progress: [] as Progress[] };
          const result = await drive(driver, {
            staging,
            signal: new AbortController().signal,
            onState: (now) => {
              told.states.push(now);
              state = now;
              return Promise.resolve();
            },
            ...io,
            onLog: async (chunk) => {
              told.log += Buffer.from(chunk).toString();
              await io.onLog?.(chunk);
            },
            onProgress: (progress) => {
              told.progress.push(progress);
              io.onProgress?.(progress);
            },
          });
          const read = result.outputs.map(async ({ name, file }) => [name, await readFile(file, 'utf8')] as const);
          return { result, ...told, outputs: Object.fromEntries(await Promise.all(read)) };
        }, its);
      return act({
        server,
        staging,
        withDriver,
        state: () => state,
        setState: (now) => (state = now),
        run: (io) => turn(io, (driver, whole) => driver.run(asked, whole), settings),
        takeUp: (known) =>
          turn({}, async (driver, whole) => {
            const { runId, installation, action, outputs } = asked;
            await driver.hold({ runId, state: known }, { ...whole, takeOver: true });
            return driver.resume({ runId, installation, action, outputs, state: known }, whole);
          }),
        resume: (more, io) =>
          turn(io, (driver, whole) => {
            const { runId, installation, action, outputs } = asked;
            return driver.resume({ runId, installation, action, outputs, state, ...more }, whole);
          }),
      });
    }),
  );
}

/** What a process that was killed may have left: its Job, and with `secrets` those as well. */
export async function postByHand(
  { server }: Processes,
  how: { readonly secrets: boolean; readonly operation?: Partial<Operation> },
): Promise<RunState> {
  const asked = operation(how.operation);
  const settings = DEFAULT_SETTINGS;
  const attempt = { number: 1, restricted: false };
  const plan = planRun({ operation: asked, settings, attempt, way: expectedWay(asked, settings), annotations: {} });
  const posted = await server.request('POST', '/apis/batch/v1/namespaces/default/jobs', plan.job);
  const { name = '', uid = '' } = posted.json<V1Job>().metadata ?? {};
  const secrets = how.secrets ? plan.inputs.secrets : [];
  for (const secret of secrets) {
    await server.request('POST', '/api/v1/namespaces/default/secrets', buildSecret(secret, { name, uid }, plan.labels));
  }
  return { namespace: 'default', job: name, jobUid: uid };
}

/** `io` of a process that goes when the bundle says something. */
export function leaveOnLog(): Pick<DriverIo, 'signal' | 'onLog'> {
  const leave = new AbortController();
  return { signal: leave.signal, onLog: () => leave.abort({ kind: 'leave' }) };
}
