import assert from 'node:assert/strict';
import type { ContainerScript } from '../../helpers/api-server.js';
import { withProcesses } from '../../helpers/begun-run.js';
import { digests, MiB, textOf, wanted } from '../../scenarios/stage.js';

const SECRET = { name: 'secret', path: '/cnab/app/outputs/secret', sensitive: true };
const files = { secret: 'the secret of this bundle', small: textOf('small', MiB) };
const LOG = { resource: 'pods/log', container: 'outputs' } as const;

const writesAll: ContainerScript = ({ write }) => {
  for (const [name, text] of Object.entries(files)) write(`/cnab/app/outputs/${name}`, text);
  return 0;
};

describe('a log that is given up in the middle', () => {
  it('costs nothing that an exec can bring: what it has not brought is fetched beside what never was in it', () =>
    withProcesses(
      {
        invocation: writesAll,
        operation: { outputs: [SECRET, ...wanted('small')] },
        faults: (faults) => {
          faults.body({ ...LOG, times: 1 }, { afterBytes: 0.7 * MiB, then: 'reset' });
          faults.fail({ ...LOG, skip: 1 }, 400, { message: 'container outputs is not valid for pod p' });
        },
      },
      async ({ run, server }) => {
        const { result, outputs } = await run();
        assert.deepEqual([result.status, result.error, digests(outputs)], ['succeeded', undefined, digests(files)]);
        const execs = server.faults.requests.filter(({ subresource }) => subresource === 'exec');
        const asked = execs.map(({ query }) => query.getAll('command').slice(4).join(' '));
        assert.ok(asked.includes('range 1 0 1048576'), asked.join());
      },
    ));
});
