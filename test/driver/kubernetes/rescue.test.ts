import assert from 'node:assert/strict';
import type { ApiServerFaults, ContainerScript } from '../../helpers/api-server.js';
import { withProcesses, type ProcessParts, type Processes } from '../../helpers/begun-run.js';
import { digests, MiB, setSidecar, textOf, wanted } from '../../scenarios/stage.js';

const SECRET = { name: 'secret', path: '/cnab/app/outputs/secret', sensitive: true };
const EXECS = { resource: 'pods/exec' } as const;
const HOLD_SECONDS = 600;

/** Ends as it is told to, as the proxies of service meshes do. */
const proxy: ContainerScript = async ({ terminated }) => {
  await terminated;
  return 0;
};

const writes =
  (files: Readonly<Record<string, string>>): ContainerScript =>
  ({ write }) => {
    for (const [name, text] of Object.entries(files)) write(`/cnab/app/outputs/${name}`, text);
    return 0;
  };

/** A pod with a container beside the bundle's that goes on. */
const besideProxy = (
  files: Readonly<Record<string, string>>,
  faults: (faults: ApiServerFaults) => void,
  more: Partial<ProcessParts> = {},
): ProcessParts => ({
  scripts: { proxy },
  invocation: writes(files),
  operation: {
    outputs: [
      ...('secret' in files ? [SECRET] : []),
      ...wanted(...Object.keys(files).filter((name) => name !== 'secret')),
    ],
  },
  faults: (on) => {
    on.injectContainer({ name: 'proxy', image: 'example/proxy:1', command: ['proxy'] });
    faults(on);
  },
  ...more,
});

/** Every grace period that a pod is deleted with, in seconds. */
function gracesOf({ server }: Processes): readonly number[] {
  const graces: number[] = [];
  server.cluster.store.listen(({ resource, object }) => {
    const { deletionGracePeriodSeconds: grace = 0 } = object.metadata;
    if (resource === 'pods' && grace > 0 && grace !== graces.at(-1)) graces.push(grace);
  });
  return graces;
}

describe('a sidecar that an injected container keeps from being signalled', () => {
  const files = { secret: 'the secret of this bundle', small: 'small' };

  it('is signalled as soon as an exec gets through, and its pod is not ended meanwhile', () =>
    withProcesses(
      // Each attempt is three execs.
      besideProxy(files, (on) => on.fail({ ...EXECS, times: 7 }, 503)),
      async (processes) => {
        const { result, outputs } = await processes.run();
        assert.deepEqual([result.status, result.error, digests(outputs)], ['succeeded', undefined, digests(files)]);
        assert.ok(!processes.server.faults.requests.some(({ verb }) => verb === 'delete'));
      },
    ));

  it('goes on holding what is not for the log where execs are refused and its pod had to be ended, and that is told', () =>
    withProcesses(
      besideProxy(files, (on) => on.fail({ ...EXECS, times: 2 }, 403, { message: 'no exec today' })),
      async (processes) => {
        const graces = gracesOf(processes);
        const first = await processes.run();
        const { result } = first;
        assert.deepEqual([result.exitCode, result.keep, first.outputs], [0, true, { small: 'small' }]);
        assert.match(result.warnings.join(), /could not be told that the bundle has ended, .*no exec today/);
        assert.deepEqual(graces, [HOLD_SECONDS]);
        const second = await processes.resume();
        assert.deepEqual([second.result.error, digests(second.outputs)], [undefined, digests(files)]);
      },
    ));

  it('has its hold time for the passes of a log that may carry more than is small', () => {
    const large = { large: textOf('large', 6 * MiB) };
    const damage = (on: ApiServerFaults): void => {
      setSidecar(on, { CNAB_PAUSES: '2 2' });
      on.body({ resource: 'pods/log', container: 'outputs' }, { afterBytes: 3 * MiB, then: 'insert', text: 'error\n' });
    };
    return withProcesses(besideProxy(large, damage, { settings: { outputsVia: 'log' } }), async (processes) => {
      const graces = gracesOf(processes);
      const { result, outputs } = await processes.run();
      assert.deepEqual([result.status, result.error, digests(outputs)], ['succeeded', undefined, digests(large)]);
      assert.deepEqual(graces, [HOLD_SECONDS]);
    });
  });

  it('has seconds where all that the log may carry is small', () => {
    const settings = { outputsVia: 'log', maxLogOutputsBytes: MiB } as const;
    const parts = besideProxy({ small: 'small' }, () => undefined, { settings });
    return withProcesses(parts, async (processes) => {
      const graces = gracesOf(processes);
      const { result, outputs } = await processes.run();
      assert.deepEqual([result.status, outputs], ['succeeded', { small: 'small' }]);
      assert.deepEqual(graces, [3]);
    });
  });
});
