import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ActionContext, ActionOutcome, ActionRequest, ActionStart } from '../../src/action/request.js';
import { runAction } from '../../src/action/run-action.js';
import { canonicalDigest } from '../../src/bundle/canonical.js';
import type { Bundle, Json, LoadedBundle } from '../../src/bundle/bundle.js';
import type { Claim, Installation, Result } from '../../src/claim/claim.js';
import type { ClaimStore } from '../../src/claim/claim-store.js';
import { systemClock } from '../../src/driver/clock.js';
import type { Driver } from '../../src/driver/driver.js';
import { CnabError } from '../../src/errors.js';
import { storeIn } from '../claim/samples.js';
import { FAKE_TARGET, FakeDriver, type FakeLife, type FakeRun } from '../helpers/fake-driver.js';

export const APP: Bundle = {
  schemaVersion: 'v1.2.0',
  name: 'app',
  version: '1.0.0',
  invocationImages: [{ image: 'registry.example/app:1.0.0', contentDigest: `sha256:${'a'.repeat(64)}` }],
  definitions: {
    text: { type: 'string' },
    port: { type: 'integer', minimum: 1, default: 80 },
    secret: { type: 'string', writeOnly: true },
    json: { type: 'object' },
  },
  parameters: {
    greeting: { definition: 'text', destination: { env: 'GREETING' } },
    port: { definition: 'port', destination: { env: 'PORT', path: '/etc/app/port' } },
  },
  credentials: { token: { env: 'TOKEN', applyTo: ['upgrade'], required: true } },
  outputs: {
    url: { definition: 'text', path: '/cnab/app/outputs/url' },
    password: { definition: 'secret', path: '/cnab/app/outputs/password', applyTo: ['upgrade'] },
  },
  actions: {
    'io.cnab.help': { stateless: true },
    status: {},
    rotate: { modifies: true },
  },
};

export function loaded(bundle: Bundle, changes: Partial<LoadedBundle> = {}): LoadedBundle {
  return {
    bundle,
    source: Buffer.from(JSON.stringify(bundle)),
    digest: canonicalDigest(bundle as unknown as Json),
    origin: 'bundle.json',
    warnings: [],
    ...changes,
  };
}

/** The life of a run that must not be run again. */
export const never = (): Promise<never> => Promise.reject(new Error('it was run again'));

/** The life of a run that says this and leaves its `url`. */
export function saying(log: string): (run: FakeLife) => Promise<void> {
  return async (run) => {
    await run.posted();
    await run.log(log);
    await run.output('url', 'http://x\n');
  };
}

/** Holds on to the open files of runs that never end, which would be closed with a warning when they are forgotten. */
const KILLED: unknown[] = [];

/** A place to run actions: a real store in a temporary folder, and everything that was said while they ran. */
export class Stage {
  readonly warnings: string[] = [];
  readonly starts: ActionStart[] = [];
  log = '';
  credentials: Record<string, string> = { token: 'tok-12345' };
  /** The sets that the resolver was made over, run by run. */
  readonly sets: (readonly string[])[] = [];

  private constructor(
    readonly home: string,
    readonly store: ClaimStore,
  ) {}

  static async create(): Promise<Stage> {
    const home = await realpath(await mkdtemp(path.join(tmpdir(), 'cnab-action-')));
    return new Stage(
      home,
      storeIn(home, () => Date.now()),
    );
  }

  async remove(): Promise<void> {
    await rm(this.home, { recursive: true, force: true });
  }

  async run(
    action: string,
    driver: Driver | ConstructorParameters<typeof FakeDriver>[0],
    changes: Partial<ActionRequest> = {},
    signal: AbortSignal = new AbortController().signal,
    context = this.context(driver, signal),
  ): Promise<ActionOutcome> {
    const request: ActionRequest = {
      action,
      installation: 'app',
      parameters: [],
      choices: { credentialSets: [] },
      credentials: (sets) => {
        this.sets.push(sets);
        return (names) =>
          Promise.resolve(
            new Map(
              names.flatMap((name) =>
                name in this.credentials ? [[name, Buffer.from(this.credentials[name] ?? '')]] : [],
              ),
            ),
          );
      },
      reset: false,
      force: false,
      installIfAbsent: false,
      deleteRecord: false,
      ignoreRequiredExtensions: false,
      ...(action === 'install' ? { bundle: loaded(APP) } : {}),
      ...changes,
    };
    return await runAction(request, context);
  }

  context(
    driver: Driver | ConstructorParameters<typeof FakeDriver>[0],
    signal: AbortSignal = new AbortController().signal,
  ): ActionContext {
    return {
      store: this.store,
      driver: typeof driver === 'function' ? new FakeDriver(driver) : driver,
      clock: systemClock,
      signal,
      events: {
        onLog: (chunk) => {
          this.log += Buffer.from(chunk).toString('utf8');
        },
        onProgress: () => undefined,
        onWarning: (sentence) => void this.warnings.push(sentence),
        onStart: (start) => void this.starts.push(start),
      },
    };
  }

  /** Runs it until the tool is done with what it does, and leaves all as SIGKILL at that moment would. The run's id. */
  async kill(
    action: string,
    tool: (run: FakeRun) => Promise<void>,
    changes: Partial<ActionRequest> = {},
  ): Promise<string> {
    const done = new Promise<void>((resolve, reject) => {
      const running = this.run(
        action,
        async (run) => {
          KILLED.push(run);
          await tool(run);
          resolve();
          await new Promise(() => undefined);
        },
        changes,
      );
      running.catch(reject);
    });
    await done;
    await rm(path.join(this.home, 'locks'), { recursive: true });
    return (await this.last()).claim.id;
  }

  /** All that is on disk, for comparison: ids and times of a run are others each time. */
  async records(): Promise<string> {
    const records = (await this.installation())?.records ?? [];
    const told = records.map(({ claim, results }) => ({
      ...{ action: claim.action, parameters: claim.parameters },
      results: results.map(({ status, message, outputs, custom }) => ({ status, message, outputs, custom })),
    }));
    return JSON.stringify(told, null, 1);
  }

  async installation(name = 'app'): Promise<Installation | undefined> {
    return await this.store.on(FAKE_TARGET).read(name);
  }

  /** Action and statuses of every recorded run, oldest first. */
  async story(): Promise<string[]> {
    const installation = await this.installation();
    return (installation?.records ?? []).map(
      ({ claim, results }) => `${claim.action}: ${results.map(({ status }) => status).join(', ')}`,
    );
  }

  async last(): Promise<{ claim: Claim; result: Result }> {
    const record = (await this.installation())?.records.at(-1);
    const result = record?.results.at(-1);
    if (record === undefined || result === undefined) throw new Error('nothing is recorded');
    return { claim: record.claim, result };
  }
}

export const text = (name: string, value: string, from = '-p'): ActionRequest['parameters'][number] => ({
  name,
  value: { kind: 'text', text: value },
  from,
});

/** Resolves with the CnabError of that code that `running` rejects with; its whole text matches `message`. */
export async function refuses(running: Promise<unknown>, code: string, message: RegExp): Promise<CnabError> {
  const error = await running.then(
    () => assert.fail('it was not refused'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof CnabError, String(error));
  assert.equal(error.code, code);
  assert.match([error.message, ...error.details, ...error.suggestions].join('\n'), message);
  return error;
}

/** A run of the driver's target that no store but its own knows; its claim is what `change` makes of it. */
export async function elsewhere(
  driver: FakeDriver,
  action = 'install',
  change: (claim: Claim) => object = (claim) => claim,
): Promise<Claim> {
  const other = await Stage.create();
  await other.kill(action, (run) => run.posted());
  const { claim } = await other.last();
  await other.remove();
  const state = { namespace: 'default', job: 'j', jobUid: 'u' };
  driver.found = [{ runId: claim.id, action, created: Date.parse(claim.created), state }];
  const changed = change(claim);
  const record = Buffer.isBuffer(changed) ? changed : Buffer.from(JSON.stringify(changed));
  driver.inputsOf = () => Promise.resolve({ record, environment: new Map(), files: new Map() });
  driver.sight = { phase: 'running', detail: 'is running in pod p' };
  return claim;
}
