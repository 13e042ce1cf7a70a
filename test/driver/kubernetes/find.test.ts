import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { ContainerScript } from '../../helpers/api-server.js';
import { leaveOnLog, withProcesses, type Processes } from '../../helpers/begun-run.js';
import { inputFile, RUN_ID } from '../../helpers/operation.js';
import { withFolder } from '../../helpers/staging.js';

const never = new AbortController().signal;

function waits(): { readonly script: ContainerScript; readonly finish: () => void } {
  let finish = (): void => undefined;
  const told = new Promise<void>((resolve) => (finish = resolve));
  return {
    finish: () => finish(),
    script: async ({ log, write }) => {
      await log('up');
      await told;
      write('/cnab/app/outputs/greeting', 'hi');
      return 3;
    },
  };
}

const find = ({ withDriver }: Processes, name: string) => withDriver((driver) => driver.find(name, never));

describe('a run that no record tells of', () => {
  for (const forbidden of [false, true]) {
    it(`is found by its installation's name${forbidden ? ', by its pod where Jobs may not be listed' : ''}`, async () => {
      const { script, finish } = waits();
      await withProcesses({ invocation: script }, async (processes) => {
        const { run, server, state, resume } = processes;
        await run(leaveOnLog());
        if (forbidden) server.faults.forbid({ verb: 'list', resource: 'jobs' });
        assert.deepEqual(await find(processes, 'other'), []);
        const [found, ...more] = await find(processes, 'app');
        assert.deepEqual([found?.runId, found?.action, more], [RUN_ID, 'install', []]);
        assert.equal(found?.state.jobUid, state().jobUid);
        assert.ok(Math.abs(Date.now() - (found?.created ?? 0)) < 60_000);
        finish();
        const end = await withFolder((staging) => resume({ state: found?.state ?? {} }, { staging }));
        assert.deepEqual([end.result.status, end.result.exitCode, end.log], ['failed', 3, 'up\n']);
        assert.deepEqual(end.outputs, { greeting: 'hi' });
      });
    });
  }

  for (const stateless of [true, undefined]) {
    it(`tells by its Job and by its pod that it leaves ${stateless ? 'no' : 'a'} record`, async () => {
      const { script } = waits();
      const asked = { action: 'status', ...(stateless && { stateless }) };
      await withProcesses({ invocation: script, operation: asked }, async (processes) => {
        await processes.run(leaveOnLog());
        const byJob = await find(processes, 'app');
        processes.server.faults.forbid({ verb: 'list', resource: 'jobs' });
        const byPod = await find(processes, 'app');
        assert.deepEqual(
          [...byJob, ...byPod].map((found) => [found.action, found.stateless]),
          [
            ['status', stateless],
            ['status', stateless],
          ],
        );
      });
    });
  }

  it('is told apart from one of an installation whose label is the same, and from what others wrote', async () => {
    const { script } = waits();
    const name = 'ä long name'.repeat(9);
    await withProcesses({ invocation: script, operation: { installation: name } }, async (processes) => {
      await processes.run(leaveOnLog());
      assert.equal((await find(processes, name)).length, 1);
      const [job] = processes.server.cluster.store.list('jobs');
      const annotations = (job?.metadata.annotations ?? {}) as Record<string, string>;
      annotations['cnab.io/installation'] = 'another';
      assert.equal((await find(processes, name)).length, 0);
      annotations['cnab.io/installation'] = name;
      annotations['cnab.io/run'] = '../../etc';
      assert.equal((await find(processes, name)).length, 0);
    });
  });

  it('gives back its record, its environment and its files, byte by byte', async () => {
    const { script } = waits();
    const big = randomBytes(2_500_000);
    const record = randomBytes(1_200_000);
    const value = Buffer.from('a$(HOME)b\n');
    const asked = {
      record,
      environment: [{ name: 'PASSWORD', value, source: 'credential "p"' }],
      files: [inputFile('/cnab/bundle.json', '{}', 'public'), inputFile('/empty', ''), inputFile('/big', big)],
    };
    await withProcesses({ invocation: script, operation: asked }, async (processes) => {
      await processes.run(leaveOnLog());
      const [found] = await find(processes, 'app');
      assert.ok(found !== undefined);
      const inputs = await processes.withDriver((driver) => driver.inputs(found, never));
      assert.ok(record.equals(inputs.record));
      assert.deepEqual([...inputs.environment], [['PASSWORD', value]]);
      assert.deepEqual([...inputs.files.keys()], ['/cnab/bundle.json', '/empty', '/big']);
      assert.ok(big.equals(inputs.files.get('/big') ?? Buffer.alloc(0)));
    });
  });

  it('keeps them from whom the cluster does, and says where they are gone', async () => {
    const { script } = waits();
    await withProcesses({ invocation: script }, async ({ run, state, server, withDriver }) => {
      await run(leaveOnLog());
      const read = () => withDriver((driver) => driver.inputs({ runId: RUN_ID, state: state() }, never));
      server.faults.fail({ verb: 'get', resource: 'secrets', times: 1 }, 403);
      await assert.rejects(read(), { code: 'unavailable' });
      await server.request('DELETE', `/api/v1/namespaces/default/secrets/${state().job}`);
      await assert.rejects(read(), { code: 'not-found' });
      const { namespace = '' } = state();
      const elsewhere = { runId: RUN_ID, state: { namespace, job: 'no-such' } };
      await assert.rejects(
        withDriver((driver) => driver.inputs(elsewhere, never)),
        { code: 'not-found' },
      );
    });
  });

  it('reads no Secret that is not its own, whatever its Job says', async () => {
    const { script } = waits();
    await withProcesses({ invocation: script }, async ({ run, state, server, withDriver }) => {
      await run(leaveOnLog());
      const other = { apiVersion: 'v1', kind: 'Secret', metadata: { name: `${state().job}-2` }, data: { e9: 'eA==' } };
      assert.equal((await server.request('POST', '/api/v1/namespaces/default/secrets', other)).status, 201);
      const [job] = server.cluster.store.list('jobs');
      const container = job?.spec.template.spec.containers[0];
      const stolen = { name: 'STOLEN', valueFrom: { secretKeyRef: { name: other.metadata.name, key: 'e9' } } };
      Object.assign(container ?? {}, { env: [stolen] });
      const read = withDriver((driver) => driver.inputs({ runId: RUN_ID, state: state() }, never));
      await assert.rejects(read, /does not belong to job/);
    });
  });

  it('whose record names other outputs than its Job cannot be taken up, and nothing is changed', async () => {
    const { script } = waits();
    await withProcesses({ invocation: script }, async ({ run, resume, server, state, withDriver }) => {
      await run(leaveOnLog());
      const outputs = [{ name: 'greeting', path: '/cnab/app/outputs/other', sensitive: false }];
      await assert.rejects(resume({ outputs }), /was made for other outputs/);
      const look = withDriver((driver) => driver.look({ runId: RUN_ID, state: state(), outputs }, never));
      await assert.rejects(look, { code: 'unavailable', message: /was made for other outputs/ });
      assert.equal(server.cluster.store.list('jobs').length, 1);
    });
  });
});

describe('a look at a run', () => {
  const look = ({ withDriver, state }: Processes) =>
    withDriver((driver) => driver.look({ runId: RUN_ID, state: state() }, never));

  it('tells whether it is there, runs or has ended', async () => {
    const { script, finish } = waits();
    await withProcesses({ invocation: script }, async (processes) => {
      const { run, server } = processes;
      assert.equal((await look(processes)).phase, 'absent');
      await run(leaveOnLog());
      const running = await look(processes);
      assert.match(`${running.phase}: it ${running.detail}`, /^running: it is running in pod cnab-install-app-/);
      finish();
      while (server.cluster.store.list('pods')[0]?.status.phase !== 'Failed')
        await new Promise((go) => setTimeout(go, 20));
      const ended = await look(processes);
      assert.deepEqual(ended, { phase: 'ended', exitCode: 3, detail: 'has ended with exit code 3' });
    });
  });

  it('tells what it waits for', async () => {
    const faults = (all: Processes['server']['faults']): void => all.neverSchedule('0/1 nodes are available');
    await withProcesses({ faults }, async (processes) => {
      await processes.run({ detach: true });
      const waiting = await look(processes);
      assert.equal(waiting.phase, 'waiting');
      assert.match(waiting.detail, /^is starting in pod .*: no node takes the pod: .*0\/1 nodes/);
    });
  });

  it('follows its log from the beginning to its end, and takes nothing of it', async () => {
    const { script, finish } = waits();
    await withProcesses({ invocation: script }, async ({ run, resume, state, withDriver }) => {
      await run(leaveOnLog());
      let log = '';
      const onLog = (chunk: Uint8Array): void => void (log += Buffer.from(chunk).toString());
      const follow = (signal: AbortSignal) =>
        withDriver((driver) => driver.follow({ runId: RUN_ID, state: state() }, { signal, onLog }));
      const following = follow(never);
      const leave = AbortSignal.timeout(300);
      assert.deepEqual(await follow(leave), { complete: false });
      finish();
      assert.deepEqual(await following, { complete: true });
      assert.equal(log, 'up\nup\n');
      assert.equal((await resume()).log, 'up\n');
      const gone = { runId: `${RUN_ID.slice(0, -1)}0`, state: { namespace: 'default', job: 'no-such' } };
      await assert.rejects(
        withDriver((driver) => driver.follow(gone, { signal: never, onLog })),
        { code: 'not-found' },
      );
    });
  });
});
