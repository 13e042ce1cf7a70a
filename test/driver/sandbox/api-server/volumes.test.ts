import assert from 'node:assert/strict';
import { lstatSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expand } from '../../../../src/driver/sandbox/api-server/expansion.js';
import {
  ScriptedRuntime,
  withApiServer,
  type ContainerScript,
  type ContainerWorld,
} from '../../../helpers/api-server.js';
import { createJob, eventsAbout, isFinished, jobWhen, type JobParts } from '../../../helpers/api-server-jobs.js';

const SECRETS = '/api/v1/namespaces/default/secrets';

describe('what a container finds', () => {
  it('is a Secret as links into a folder that can be exchanged', () =>
    whileRunning(
      {
        pod: { volumes: [{ name: 'outputs', secret: { secretName: 's', defaultMode: 0o400 } }] },
      },
      ({ hostPath, read, spec }) => {
        const folder = hostPath('/cnab/app/outputs');
        assert.equal(read('/cnab/app/outputs/a').toString(), 'A');
        assert.equal(readlinkSync(join(folder, 'a')), '..data/a');
        assert.ok(lstatSync(join(folder, '..data')).isSymbolicLink());
        assert.equal(statSync(join(folder, 'a')).mode & 0o777, 0o400);
        assert.equal(spec.mounts[0]?.readOnly, true, 'a Secret cannot be written to, whatever the mount says');
      },
    ));

  it('is a choice of keys of several Secrets in one projected volume', () =>
    whileRunning(
      {
        pod: {
          volumes: [
            {
              name: 'outputs',
              projected: {
                sources: [
                  { secret: { name: 's', items: [{ key: 'a', path: 'f0.0' }] } },
                  { secret: { name: 't', items: [{ key: 'b', path: 'deep/f0.1' }] } },
                ],
              },
            },
          ],
        },
      },
      ({ read }) => {
        const file = (name: string): string => read(`/cnab/app/outputs/${name}`).toString();
        assert.deepEqual([file('f0.0'), file('deep/f0.1')], ['A', 'B']);
      },
    ));

  it('is a file of a volume at its own path, and a folder where the volume has no such file', () => {
    const mounts: ContainerWorld['spec']['mounts'][] = [];
    return whileRunning(
      {
        invocationFields: {
          volumeMounts: [
            { name: 'outputs', mountPath: '/cnab/app/outputs/deep/x', subPath: 'made' },
            { name: 'outputs', mountPath: '/etc/f', subPath: 'f0' },
            { name: 'outputs', mountPath: '/cnab/app/outputs/' },
          ],
        },
      },
      ({ spec }) => {
        mounts.push(spec.mounts);
        assert.deepEqual(
          spec.mounts.map(({ target, kind }) => [target, kind]),
          [
            ['/etc/f', 'file'],
            ['/cnab/app/outputs', 'folder'],
            ['/cnab/app/outputs/deep/x', 'folder'],
          ],
          'shallow ones come first',
        );
      },
      ({ write }) => write('/cnab/app/outputs/f0', 'content'),
    );
  });

  it('is no file outside the volume, whatever a container linked there', async () => {
    const runtime = new ScriptedRuntime({
      scripts: {
        outputs: async ({ hostPath, terminated }) => {
          symlinkSync('/etc/passwd', join(hostPath('/cnab/app/outputs'), 'link'));
          await terminated;
          return 0;
        },
      },
    });
    await withApiServer({ runtime }, async (server) => {
      const volumeMounts = [{ name: 'outputs', mountPath: '/etc/f', subPath: 'link' }];
      await createJob(server, { invocationFields: { volumeMounts } });
      await waitFor(() => eventsAbout(server, 'sample').some(({ reason }) => reason === 'Failed'));
      const [event] = eventsAbout(server, 'sample').filter(({ reason }) => reason === 'Failed');
      assert.match(
        event?.message ?? '',
        /^Error: failed to prepare subPath for volumeMount "outputs".*leads out of the volume$/,
      );
    });
  });

  it('is the environment of its spec and no more', () =>
    whileRunning(
      {
        invocationFields: {
          args: ['$(A)-$(B)', '$$(A)', '$(NONE)', 'kill $$'],
          env: [
            { name: 'A', value: 'a' },
            { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'a' } } },
            { name: 'C', valueFrom: { secretKeyRef: { name: 's', key: 'none', optional: true } } },
            { name: 'D', valueFrom: { secretKeyRef: { name: 's', key: 'raw' } } },
          ],
        },
      },
      ({ env, spec }) => {
        assert.deepEqual(env, { A: 'a', B: 'A', D: '\ufffd' });
        assert.deepEqual(spec.args, ['a-A', '$(A)', '$(NONE)', 'kill $']);
      },
    ));

  it('is text expanded as the kubelet does it', () => {
    const variables = new Map([
      ['A', 'a'],
      ['EMPTY', ''],
      ['NESTED', '$(A)'],
    ]);
    const cases: [string, string][] = [
      ['$(A)', 'a'],
      ['$(EMPTY)|$(NESTED)', '|$(A)'],
      ['$$(A)', '$(A)'],
      ['$$$(A)', '$a'],
      ['$(A', '$(A'],
      ['$A $ $', '$A $ $'],
      ['$()', '$()'],
      ['$$', '$'],
      ['$(A)$(B)$(A)', 'a$(B)a'],
    ];
    for (const [text, expected] of cases) assert.equal(expand(text, variables), expected, text);
  });
});

/** Runs `look` in the invocation container of a Job, with two Secrets there; `before` in the sidecar. */
async function whileRunning(
  parts: JobParts,
  look: (world: ContainerWorld) => void,
  before: (world: ContainerWorld) => void = () => undefined,
): Promise<void> {
  const failures: unknown[] = [];
  const scripts: Record<string, ContainerScript> = {
    outputs: async (world) => {
      before(world);
      await world.terminated;
      return 0;
    },
    invocation: (world) => {
      try {
        look(world);
      } catch (error) {
        failures.push(error);
      }
      return 0;
    },
  };
  await withApiServer({ runtime: new ScriptedRuntime({ scripts }) }, async (server) => {
    const secrets = { s: { a: 'QQ==', raw: '/w==' }, t: { b: 'Qg==' } };
    for (const [name, data] of Object.entries(secrets))
      await server.request('POST', SECRETS, { metadata: { name }, data });
    const job = await createJob(server, parts);
    await jobWhen(server, job, isFinished);
  });
  assert.deepEqual(failures, []);
}

async function waitFor(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
