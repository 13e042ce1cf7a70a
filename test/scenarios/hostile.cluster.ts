import assert from 'node:assert/strict';
import type { V1Pod } from '@kubernetes/client-node';
import { eventually } from '../cluster/eventually.js';
import { clusterCases } from '../cluster/cases.js';
import { spellings } from './sandbox-stage.js';

const OUT = '/cnab/app/outputs';
const SECRET = 'the-credential-that-must-stay-in-the-pod-5d1f7c';
const KEY = 'a-sensitive-output-that-no-log-may-hold-91c2e4';
const LARGE = 6 * 1024 * 1024;

/** A million files that nobody asked for among those that are wanted, links, a pipe, a sparse file, and processes that go on writing. */
const hostile = (
  count: number,
): string => `cd ${OUT}; echo fine > fine; mkfifo pipe; ln -s /proc/1/environ environ; ln -s /proc/1 process
  ln -s /etc/passwd passwd; ln -s /cnab-files files; ln -s /cnab-in inputs; ln -s /etc/app/credential credential
  mkdir sub; ln -s ../../../../etc sub/above; truncate -s 1099511627776 sparse; head -c ${LARGE} /dev/zero | tr '\\0' x > large
  printf '%s' '${KEY.slice(0, 20)}''${KEY.slice(20)}' > key
  mkdir many; cd many; seq 1 ${count} | xargs -n 10000 touch; cd ..
  echo begun > growing; sh -c 'trap "" HUP TERM; while :; do echo more >> growing; done' & sleep 0.3`;
const PATHS = {
  large: 'large',
  growing: 'growing',
  pipe: 'pipe',
  environ: 'environ',
  environ2: 'process/environ',
  passwd: 'passwd',
  passwd2: 'sub/above/passwd',
  input: 'files/f3',
  secret: 'inputs/f3.0',
  credential: 'credential',
  sparse: 'sparse',
};
const ARRIVING = ['fine', 'growing', 'large'];

clusterCases('a hostile invocation image on a cluster', (one) => {
  /** What the containers of the one pod have in their logs. */
  const logs = async (): Promise<string> => {
    const { name = '' } = (await one().pod())?.metadata ?? {};
    const all = ['outputs', 'invocation'].map((container) =>
      one().api.log(one().namespace, name, container, 1_000_000),
    );
    return (await Promise.all(all)).join('\n');
  };

  for (const via of ['log', 'exec'] as const) {
    it(`scenario 23: ${via === 'log' ? 'a million' : 'many'} undeclared files, links, a pipe, 1 TiB and a process that goes on writing leave nothing by ${via}`, async () => {
      const sensitive = via === 'exec' ? ['key'] : [];
      const entries = Object.entries(PATHS).map(([name, path]) => [
        name,
        { definition: 'text', path: `${OUT}/${path}` },
      ]);
      const bundle = one().bundle({
        script: hostile(via === 'log' ? 1_000_000 : 20_000),
        outputs: ['fine'],
        sensitive,
        more: {
          outputs: Object.fromEntries(entries) as object,
          credentials: { secret: { env: 'SECRET', path: '/etc/app/credential', required: true } },
        },
      });
      const flags = ['--credential', 'secret=env:GIVEN', '--outputs-via', via, '--keep-job'];
      const { code, document, told, stderr, stdout } = await one().install(bundle, flags, { env: { GIVEN: SECRET } });
      assert.deepEqual([code, document.ran, document.exitCode], [5, 'yes', 0], stderr);
      assert.deepEqual(document.outputs.map(({ name }) => name).sort(), [...ARRIVING, ...sensitive].sort(), stderr);
      for (const name of Object.keys(PATHS)) if (!ARRIVING.includes(name)) assert.match(told, new RegExp(`"${name}"`));
      assert.equal((await one().output('large')).length, LARGE);
      assert.match((await one().output('growing')).toString(), /^begun\n(more\n)*$/);
      const outside = `${await logs()}\n${stdout.toString()}\n${stderr}`;
      const secrets = via === 'exec' ? [SECRET, KEY] : [SECRET];
      for (const target of [...secrets, 'root:x:0', 'CNAB_WANTED_0']) {
        for (const text of spellings(target)) assert.ok(!outside.includes(text), text);
      }
      if (via === 'exec') assert.equal((await one().output('key')).toString(), KEY);
    });
  }

  it('scenario 17: a Job that somebody suspends ends the run with one error, outputs and exit code are kept', async () => {
    const script = `trap 'echo late > ${OUT}/late; exit 7' TERM; while :; do sleep 0.1; done`;
    const running = one().start(['install', 'app', one().bundle({ script, outputs: ['late'] }), '--json']);
    const pod = await one().running();
    const job = pod.metadata?.labels?.['batch.kubernetes.io/job-name'] ?? '';
    const path = `/apis/batch/v1/namespaces/${one().namespace}/jobs/${job}`;
    await one().api.call('PATCH', path, { spec: { suspend: true } }, 'application/merge-patch+json');
    const { code, document, told } = await one().acted(running);
    assert.deepEqual([code, document.status, document.ran, document.exitCode], [1, 'failed', 'yes', 7], told);
    assert.match(told, /deleted|suspended/);
    assert.equal((await one().output('late')).toString(), 'late\n');
    await one().nothingIsLeft();
  });

  it('scenario 21: a second pod with the marks of the first is not taken for it', async () => {
    const script = `echo first > ${OUT}/who; sleep 3; exit 3`;
    const running = one().start(['install', 'app', one().bundle({ script, outputs: ['who'] }), '--json']);
    const first = await one().running();
    const { labels, annotations } = first.metadata ?? {};
    const container = {
      name: 'invocation',
      image: first.spec?.containers[0]?.image,
      command: ['sh', '-c', 'echo second'],
    };
    const kept = Object.entries(labels ?? {}).filter(([name]) => name.startsWith('cnab.io/'));
    await one().api.create<V1Pod>(`/api/v1/namespaces/${one().namespace}/pods`, {
      metadata: { name: 'second', labels: Object.fromEntries(kept) as object, annotations },
      spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, containers: [container] },
    });
    await eventually('the second pod has ended', 30, async () =>
      (await one().api.pods(one().namespace)).some(
        ({ metadata, status }) => metadata?.name === 'second' && status?.phase === 'Succeeded',
      ),
    );
    const { code, document, stderr } = await one().acted(running);
    assert.deepEqual([code, document.status, document.exitCode], [1, 'failed', 3], stderr);
    assert.equal((await one().output('who')).toString(), 'first\n');
    assert.doesNotMatch(stderr, /^second$/m);
  });
});
