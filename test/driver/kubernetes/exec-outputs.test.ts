import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '../../../src/driver/driver.js';
import type { ContainerScript, ApiServerFaults } from '../../helpers/api-server.js';
import { withProcesses, type ProcessParts } from '../../helpers/begun-run.js';
import { digests, MiB, setSidecar, textOf, wanted } from '../../scenarios/stage.js';

const [LARGE] = wanted('large');
const SECRET = { name: 'secret', path: '/cnab/app/outputs/secret', sensitive: true };
const files = { large: textOf('large', 6 * MiB), secret: 'the secret of this bundle', small: 'small' };
const EXECS = { resource: 'pods/exec' } as const;

const writesAll: ContainerScript = ({ write }) => {
  for (const [name, text] of Object.entries(files)) write(`/cnab/app/outputs/${name}`, text);
  return 0;
};

const parts = (outputs: readonly (typeof SECRET | undefined)[], faults?: ProcessParts['faults']): ProcessParts => ({
  invocation: writesAll,
  operation: { outputs: [...outputs, ...wanted('small')].filter((output) => output !== undefined) },
  ...(faults === undefined ? {} : { faults }),
});

const pick = (...names: readonly (keyof typeof files)[]): Record<string, string> =>
  digests(Object.fromEntries(names.map((name) => [name, files[name]])));

/** Execs are refused although a review of one's rights says otherwise. */
const refused = (faults: ApiServerFaults): void => {
  faults.fail(EXECS, 403, { message: 'no exec today' });
  setSidecar(faults, { CNAB_PATIENCE: '2' });
};

describe('outputs by exec', () => {
  it('a sensitive one comes so, and no byte of it is in a log', () =>
    withProcesses(parts([SECRET]), async ({ run, server, withDriver, state }) => {
      const { result, outputs, progress } = await run();
      assert.deepEqual(
        [result.status, result.error, digests(outputs)],
        ['succeeded', undefined, pick('secret', 'small')],
      );
      const { sent } = server.faults;
      assert.ok(sent.includes('CNABO1') && !sent.includes(files.secret));
      assert.ok(!sent.includes(Buffer.from(files.secret).toString('base64')));
      assert.ok(progress.some(({ heldUntil = 0 }) => heldUntil > Date.now()));
      // Before its Job goes the sidecar is told that it may end: afterwards nothing shortens its hold time.
      assert.deepEqual(await withDriver((driver) => driver.release({ runId: 'x', state: state() })), []);
    }));

  it('the sidecar ends as soon as all is there, though it could hold for long', () =>
    withProcesses(parts([LARGE]), async ({ run, server }) => {
      const { result, outputs } = await run();
      assert.deepEqual([result.status, digests(outputs)], ['succeeded', pick('large', 'small')]);
      const sidecar = () => server.cluster.store.list('pods')[0]?.status.initContainerStatuses?.[0]?.state;
      while (sidecar()?.terminated === undefined) await new Promise((go) => setTimeout(go, 20));
      assert.equal(sidecar()?.terminated?.exitCode, 0);
    }));

  it('the sidecar is not let go while the disk does not have what came: it may be asked again', () =>
    withProcesses(parts([LARGE]), async ({ run, staging, server }) => {
      const onProgress = ({ receivedBytes = 0 }: Progress): void => {
        if (receivedBytes >= 6 * MiB) rmSync(join(staging, '0'), { force: true });
      };
      await assert.rejects(run({ onProgress }), /ENOENT/);
      const verbs = server.faults.requests.flatMap(({ query }) => query.getAll('command').slice(4, 5));
      assert.ok(verbs.length > 0 && !verbs.includes('done'), verbs.join());
    }));

  it('where exec is refused in the end, what may be in the log comes by it; the sensitive one is not sent, and is told', () =>
    withProcesses(parts([SECRET, LARGE], refused), async ({ run, server }) => {
      const { result, outputs } = await run();
      assert.deepEqual(digests(outputs), pick('large', 'small'));
      assert.deepEqual([result.exitCode, result.error?.code, result.keep], [0, 'outputs-incomplete', true]);
      assert.match(result.error?.message ?? '', /1 of its 3 outputs did not arrive: .*no exec today/);
      assert.doesNotMatch(
        result.error?.suggestions.join() ?? '',
        /cnab resume/,
        'the command is not for a driver to write',
      );
      const { until = 0 } = result.outstanding ?? {};
      assert.ok(until > Date.now() && until < Date.now() + 11 * 60_000 * 6);
      assert.ok(!server.faults.sent.includes(Buffer.from(files.secret).toString('base64')));
    }));

  it('what was outstanding is fetched by a later process, which ends the run', () =>
    withProcesses(
      parts([SECRET], (faults) => faults.fail({ ...EXECS, times: 1 }, 403, { message: 'not yet' })),
      async ({ run, resume, server }) => {
        const first = await run();
        assert.deepEqual([first.result.error?.code, digests(first.outputs)], ['outputs-incomplete', pick('small')]);
        const second = await resume();
        assert.deepEqual(
          [second.result.status, second.result.error, second.result.keep],
          ['succeeded', undefined, undefined],
        );
        assert.deepEqual(digests(second.outputs), pick('secret', 'small'));
        const posts = server.faults.requests.filter(({ verb, resource }) => verb === 'create' && resource === 'jobs');
        assert.equal(posts.length, 1);
      },
    ));

  for (const [reason, code] of [
    [{ kind: 'signal', signal: 'SIGTERM' }, 'interrupted'],
    [{ kind: 'timeout' }, 'timed-out'],
  ] as const) {
    it(`${reason.kind} after the verdict ends the transfer only: the verdict stands, and the rest can be fetched`, () =>
      withProcesses(
        parts([LARGE], (faults) => faults.exec({ ...EXECS, times: 1 }, { afterBytes: 2.5 * MiB, then: 'stall' })),
        async ({ run, resume, server }) => {
          const stop = new AbortController();
          const first = await run({
            signal: stop.signal,
            onProgress: ({ receivedBytes = 0 }) => void (receivedBytes >= 2 * MiB && stop.abort(reason)),
          });
          const { result } = first;
          assert.deepEqual(
            [result.status, result.exitCode, result.error?.code, result.keep],
            ['succeeded', 0, code, true],
          );
          assert.ok((result.outstanding?.until ?? 0) > Date.now());
          const asked = server.faults.requests.length;
          const second = await resume();
          assert.deepEqual(digests(second.outputs), pick('large', 'small'));
          const execs = server.faults.requests.slice(asked).filter(({ subresource }) => subresource === 'exec');
          assert.match(execs[0]?.query.getAll('command').slice(4).join(' ') ?? '', /^range 0 2097152 4194304$/);
        },
      ));
  }

  for (const [what, output, name, bytes] of [
    ['it is looked for what came damaged', LARGE, 'large', 6 * MiB],
    ['the salt of a sealed one has come', SECRET, 'secret', files.secret.length],
  ] as const) {
    it(`a stop before ${what} is a stop: the bundle is not blamed, and the output can be fetched`, () => {
      const corrupt: ProcessParts['faults'] = (faults) =>
        faults.exec({ ...EXECS, times: 1 }, { afterBytes: MiB / 2, then: 'corrupt' });
      const alone = { ...parts([], corrupt), operation: { outputs: [output].filter((each) => each !== undefined) } };
      return withProcesses(alone, async ({ run, resume }) => {
        const stop = new AbortController();
        const interrupt = (): void => stop.abort({ kind: 'signal', signal: 'SIGINT' });
        const onProgress = ({ receivedBytes = 0 }: Progress): void => void (receivedBytes >= bytes && interrupt());
        const { result } = await run({ signal: stop.signal, onProgress });
        assert.deepEqual([result.error?.code, result.keep], ['interrupted', true]);
        assert.deepEqual(
          result.problems.map(({ kind }) => kind),
          ['lost'],
        );
        const second = await resume();
        assert.deepEqual([second.result.status, digests(second.outputs)], ['succeeded', pick(name)]);
      });
    });
  }

  it('a process that leaves in the transfer, or is killed, loses nothing of what has come', () =>
    withProcesses(
      parts([LARGE], (faults) => faults.exec({ ...EXECS, times: 1 }, { afterBytes: 2.5 * MiB, then: 'stall' })),
      async ({ run, resume }) => {
        const leave = new AbortController();
        const first = await run({
          signal: leave.signal,
          onProgress: ({ receivedBytes = 0 }) => void (receivedBytes >= 2 * MiB && leave.abort({ kind: 'leave' })),
        });
        assert.deepEqual([first.result.status, first.result.keep], ['running', true]);
        const second = await resume();
        assert.deepEqual([second.result.status, digests(second.outputs)], ['succeeded', pick('large', 'small')]);
      },
    ));

  it('connections that break again and again cost no byte', () =>
    withProcesses(
      parts([LARGE], (faults) => {
        for (const skip of [0, 1, 2, 3])
          faults.exec({ ...EXECS, skip, times: 1 }, { afterBytes: 1.2 * MiB, then: 'reset' });
      }),
      async ({ run }) => {
        const { result, outputs } = await run();
        assert.deepEqual([result.status, digests(outputs)], ['succeeded', pick('large', 'small')]);
      },
    ));

  it('what was damaged in the log while the sidecar holds is fetched as well, long before the hold time is over', () => {
    const small = textOf('small', MiB);
    const damage: ProcessParts['faults'] = (faults) => {
      setSidecar(faults, { CNAB_BEAT: '1' });
      const fault = { afterBytes: 0.7 * MiB, then: 'insert', text: 'error: of the kubelet\n' } as const;
      faults.body({ resource: 'pods/log', container: 'outputs', times: 1 }, fault);
    };
    const invocation: ContainerScript = ({ write }) => {
      write(SECRET.path, files.secret);
      write('/cnab/app/outputs/small', small);
      return 0;
    };
    return withProcesses({ ...parts([SECRET], damage), invocation }, async ({ run, server }) => {
      const { result, outputs } = await run();
      assert.deepEqual([result.status, digests(outputs)], ['succeeded', digests({ secret: files.secret, small })]);
      const execs = server.faults.requests.filter(({ subresource }) => subresource === 'exec');
      const asked = execs.map(({ query }) => query.getAll('command').slice(4).join(' '));
      assert.ok(asked.includes('range 1 0 1048576'), asked.join());
    });
  });

  it('a run that is stopped has its grace period to bring what is sensitive', () => {
    const invocation: ContainerScript = async (bundle) => {
      await bundle.log('up');
      await bundle.terminated;
      await writesAll(bundle);
      return 9;
    };
    return withProcesses({ ...parts([SECRET]), invocation }, async ({ run }) => {
      const stop = new AbortController();
      const onLog = (): void => stop.abort({ kind: 'signal', signal: 'SIGINT' });
      const { result, outputs } = await run({ signal: stop.signal, onLog });
      assert.deepEqual([result.status, result.exitCode, result.keep], ['canceled', 9, undefined]);
      assert.deepEqual(digests(outputs), pick('secret', 'small'));
    });
  });

  it('what nobody fetched in its time is lost with that reason, and nothing more is offered', () =>
    withProcesses({ ...parts([SECRET]), settings: { holdTimeMs: 9000 } }, async ({ run, resume, server }) => {
      await run({ detach: true });
      const isOver = (): boolean => server.cluster.store.list('pods')[0]?.status.phase === 'Succeeded';
      while (!isOver()) await new Promise((go) => setTimeout(go, 20));
      const { result, outputs } = await resume();
      assert.deepEqual(
        [result.exitCode, result.error?.code, digests(outputs)],
        [0, 'outputs-incomplete', pick('small')],
      );
      assert.match(result.error?.message ?? '', /the time was over for which the pod holds its outputs/);
      assert.deepEqual([result.outstanding, result.keep], [undefined, undefined]);
    }));

  it('an injected container that goes on costs no deletion: the sidecar is signalled', () =>
    withProcesses(
      parts([SECRET], (faults) =>
        faults.injectContainer({ name: 'proxy', image: 'example/proxy:1', command: ['sleep', '600'] }),
      ),
      async ({ run, server }) => {
        const { result, outputs } = await run();
        assert.deepEqual([result.status, digests(outputs)], ['succeeded', pick('secret', 'small')]);
        assert.ok(!server.faults.requests.some(({ verb }) => verb === 'delete'));
      },
    ));
});

describe('a disk without room for the outputs', () => {
  it('is told before anything is stored, with sizes and what to do, and the outputs stay where they are', async () => {
    let free = MiB;
    const freeBytes = (): Promise<number> => Promise.resolve(free);
    await withProcesses({ ...parts([LARGE]), freeBytes }, async ({ run, resume }) => {
      const { result, outputs } = await run();
      assert.deepEqual([result.status, result.exitCode, result.error?.code], ['succeeded', 0, 'outputs-incomplete']);
      assert.match(
        result.error?.message ?? '',
        /2 of its 2 outputs did not arrive: they need 6 MiB.* and 1 MiB are free/,
      );
      assert.match(result.error?.details.join() ?? '', /output "large" .* 6 MiB/);
      assert.match(result.error?.suggestions.join() ?? '', /make room on that disk/);
      assert.deepEqual([outputs, result.keep, (result.outstanding?.until ?? 0) > Date.now()], [{}, true, true]);
      free = 100 * MiB;
      const second = await resume();
      assert.deepEqual([second.result.status, digests(second.outputs)], ['succeeded', pick('large', 'small')]);
    });
  });
});

describe('outputs by the log alone', () => {
  const byLog = { outputsVia: 'log' } as const;

  it('above what one pass carries are there with the first pass, where nothing is lost', () =>
    withProcesses({ ...parts([LARGE]), settings: byLog }, async ({ run, server }) => {
      const { result, outputs, progress } = await run();
      assert.deepEqual([result.status, digests(outputs)], ['succeeded', pick('large', 'small')]);
      assert.ok(progress.some(({ heldUntil, output }) => heldUntil !== undefined && output === 'large'));
      assert.ok(!server.faults.requests.some(({ subresource }) => subresource === 'exec'));
    }));

  it('are read on when a login ran out in the middle and was renewed', () =>
    withProcesses(
      {
        ...parts([LARGE], (faults) => {
          const log = { resource: 'pods/log', container: 'outputs' } as const;
          faults.body({ ...log, times: 1 }, { afterBytes: 3 * MiB, then: 'reset' });
          // An attempt with fresh credentials follows each at once.
          faults.fail({ ...log, skip: 1, times: 6 }, 401);
        }),
        settings: byLog,
      },
      async ({ run }) => {
        const { result, outputs } = await run();
        assert.deepEqual([result.status, digests(outputs)], ['succeeded', pick('large', 'small')]);
      },
    ));
});
