import assert from 'node:assert/strict';
import { RIGHTS } from '../../../src/driver/kubernetes/rights.js';
import { NONROOT_TOOL, TOOL } from '../bundle.js';
import type { Acted, Case } from '../case.js';
import { clusterCases } from '../cases.js';
import { needsOwnNode } from '../node.js';
import { makeUser, readmeRules, without, writeKubeconfig } from '../user.js';

const OUT = '/cnab/app/outputs';

/** Rights without which a run of a small output goes well: it tells less, or cannot be taken up from elsewhere. */
const OPTIONAL = [
  'get pods/exec',
  'create pods/exec',
  'list jobs',
  'patch jobs',
  'get secrets',
  'list events',
  'get namespaces',
];

function readmeRights(): string[] {
  return readmeRules().flatMap(({ resources = [], verbs }) => verbs.map((verb) => `${verb} ${resources[0]}`));
}

/** Nothing has run, nothing is left, and it was said in good time. */
async function refused(one: Case, acted: Acted, told: RegExp): Promise<void> {
  assert.equal(acted.code, 3, acted.stderr);
  assert.equal(acted.document.ran, 'no');
  assert.match(acted.told, told);
  assert.ok(acted.ms < 30_000, `told after ${acted.ms} ms`);
  await one.nothingIsLeft();
}

clusterCases('a run that the cluster refuses', (one) => {
  it('an image that does not exist is told at once (exit 3)', async () => {
    const bundle = one().bundle({ script: 'true', image: 'registry.test:5000/absent:1' });
    await refused(one(), await one().install(bundle), /registry\.test:5000\/absent:1.*not found/);
  });

  it('an image whose digest is not the one that the bundle names is not run (exit 3)', async () => {
    const bundle = one().bundle({ script: 'true', contentDigest: `sha256:${'0'.repeat(64)}` });
    await refused(one(), await one().install(bundle), /not found/);
  });

  it('an image that has the digest that the bundle names is pulled by it and run', async function () {
    needsOwnNode(this);
    const digest = await imageDigest(TOOL);
    const bundle = one().bundle({ script: `echo out > ${OUT}/out`, contentDigest: digest, outputs: ['out'] });
    const { code, stderr } = await one().install(bundle);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /has no contentDigest/);
  });

  it('a registry that cannot be found may come back, so it is told when the start time-out is over (exit 3)', async () => {
    const bundle = one().bundle({ script: 'true', image: 'nowhere.invalid/tool:1' });
    const acted = await one().install(bundle, ['--start-timeout', '6s']);
    await refused(one(), acted, /nowhere\.invalid\/tool:1/);
    assert.ok(acted.ms > 6000);
  });

  it("a pod that no node has room for is told with the scheduler's words (exit 3)", async () => {
    await limitRange(one(), { default: { cpu: '1000' } });
    const acted = await one().install(one().bundle({ script: 'true' }), ['--start-timeout', '4s']);
    await refused(one(), acted, /no node takes the pod.*Insufficient cpu/);
  });

  it('a quota that forbids the pod is told at once (exit 3)', async () => {
    await quota(one(), { pods: '0' });
    await refused(one(), await one().install(one().bundle({ script: 'true' })), /exceeded quota.*kubectl describe/s);
  });

  it('a quota that wants limits on every container is told with what to do (exit 3)', async () => {
    await quota(one(), { 'limits.cpu': '4', 'limits.memory': '4Gi' });
    await refused(one(), await one().install(one().bundle({ script: 'true' })), /must specify.*--pod-patch/s);
  });

  it('a quota on Jobs or Secrets is told at once, and no Job stays behind (exit 3)', async () => {
    await quota(one(), { 'count/secrets': '0' });
    await refused(one(), await one().install(one().bundle({ script: 'true' })), /exceeded quota.*secrets/s);
  });

  it('a LimitRange that forbids the sidecar is told with what to do (exit 3)', async () => {
    await limitRange(one(), { max: { memory: '16Mi' }, default: { memory: '8Mi' } });
    await refused(one(), await one().install(one().bundle({ script: 'true' })), /memory.*--pod-patch/s);
  });

  it('a namespace that does not exist is told, and made where that is asked for', async () => {
    const name = `${one().namespace}-new`;
    one().defer(() => one().api.remove(`/api/v1/namespaces/${name}`));
    const bundle = one().bundle({ script: `echo out > ${OUT}/out`, outputs: ['out'] });
    await refused(one(), await one().install(bundle, ['-n', name]), /--create-namespace/);
    const { code, stderr } = await one().install(bundle, ['-n', name, '--create-namespace']);
    assert.equal(code, 0, stderr);
  });

  it('a service account that does not exist is told at once (exit 3)', async () => {
    const acted = await one().install(one().bundle({ script: 'true' }), ['--service-account', 'absent']);
    await refused(one(), acted, /service account/);
  });

  it('a token that is not good is told with the name of the user entry (exit 3)', async () => {
    const kubeconfig = writeKubeconfig(one(), 'somebody', { token: 'not.a.token' });
    await refused(
      one(),
      await one().install(one().bundle({ script: 'true' }), [], { kubeconfig }),
      /Unauthorized|401/i,
    );
  });
});

clusterCases('a user with the Role of the README', (one) => {
  it('installs, upgrades and uninstalls', async () => {
    const { kubeconfig } = await makeUser(one(), readmeRules(one().namespace));
    const bundle = one().bundle({ script: `echo $CNAB_ACTION > ${OUT}/out`, outputs: ['out'] });
    for (const args of [
      ['install', 'app', bundle],
      ['upgrade', 'app'],
      ['uninstall', 'app'],
    ]) {
      const { code, stderr, document } = await one().act(args, { kubeconfig });
      assert.equal(code, 0, stderr);
      assert.deepEqual(document.warnings ?? [], []);
      assert.equal((await one().output('out')).toString(), `${args[0]}\n`);
    }
    await one().nothingIsLeft();
  });

  it('stops a run on time, and reads what it has left', async () => {
    const { kubeconfig } = await makeUser(one(), readmeRules(one().namespace));
    const script = `echo half > ${OUT}/half; trap 'exit 9' TERM; while :; do sleep 0.1; done`;
    const bundle = one().bundle({ script, outputs: ['half'] });
    const { code, stderr } = await one().install(bundle, ['--timeout', '7s'], { kubeconfig });
    assert.equal(code, 4, stderr);
    assert.equal((await one().output('half')).toString(), 'half\n');
    await one().nothingIsLeft();
  });

  it('learns why an image cannot be pulled', async () => {
    const { kubeconfig } = await makeUser(one(), readmeRules(one().namespace));
    const bundle = one().bundle({ script: 'true', image: 'registry.test:5000/absent:1' });
    await refused(one(), await one().install(bundle, [], { kubeconfig }), /not found/);
  });

  it('has what a run cannot do without, and what is said to be optional: nothing else', () => {
    const needed = RIGHTS.map(({ verb, resource }) => `${verb} ${resource}`);
    assert.deepEqual(readmeRights().sort(), [...needed, ...OPTIONAL].sort());
  });

  for (const right of readmeRights()) {
    const isNeeded = !OPTIONAL.includes(right);
    it(`but "${right}" ${isNeeded ? 'is refused, and told which right is missing (exit 3)' : 'installs all the same'}`, async () => {
      const [verb = '', resource = ''] = right.split(' ');
      const { kubeconfig } = await makeUser(one(), without(readmeRules(one().namespace), verb, resource));
      const bundle = one().bundle({ script: `echo out > ${OUT}/out`, outputs: ['out'] });
      const acted = await one().install(bundle, [], { kubeconfig });
      if (isNeeded) {
        return await refused(one(), acted, new RegExp(`resources: \\[${resource}\\]\\s+verbs: \\[${verb}\\]`));
      }
      assert.equal(acted.code, 0, acted.stderr);
      assert.equal((await one().output('out')).toString(), 'out\n');
    });
  }
});

clusterCases(
  'a namespace that enforces the standard "restricted"',
  (one) => {
    it('runs a bundle whose image is not root, and its outputs of mode 0600 arrive', async () => {
      const script = `umask 077; id > ${OUT}/id; echo more >> "$FILE"; cp "$FILE" ${OUT}/file`;
      const more = {
        definitions: { p: { type: 'string', default: 'given ' } },
        parameters: { file: { definition: 'p', destination: { path: '/home/me/.config' } } },
      };
      const bundle = one().bundle({
        script: script.replaceAll('$FILE', '/home/me/.config'),
        image: NONROOT_TOOL,
        outputs: ['id', 'file'],
        more,
      });
      const { code, stderr } = await one().install(bundle);
      assert.equal(code, 0, stderr);
      assert.match((await one().output('id')).toString(), /^uid=65532.* gid=65532/);
      assert.equal((await one().output('file')).toString(), 'given more\n');
    });

    it('runs a bundle as the user that is asked for', async () => {
      const bundle = one().bundle({ script: `id -u > ${OUT}/id`, outputs: ['id'] });
      const { code, stderr } = await one().install(bundle, ['--run-as-user', '1234']);
      assert.equal(code, 0, stderr);
      assert.equal((await one().output('id')).toString(), '1234\n');
    });

    it('a user who may not read the namespace learns of it from the refusal, and the run takes its shape', async () => {
      const rules = without(readmeRules(one().namespace), 'get', 'namespaces');
      const { kubeconfig } = await makeUser(one(), rules);
      const bundle = one().bundle({ script: `id -u > ${OUT}/id`, outputs: ['id'] });
      const { code, stderr } = await one().install(bundle, [], { kubeconfig });
      assert.equal(code, 0, stderr);
      assert.equal((await one().output('id')).toString(), '65532\n');
      await one().nothingIsLeft();
    });

    it('a bundle that needs root fails there, and the command says that it did not run as root', async () => {
      const bundle = one().bundle({ script: 'echo x > /etc/motd', image: TOOL });
      const acted = await one().install(bundle);
      assert.equal(acted.code, 1, acted.stderr);
      assert.match([acted.told, ...(acted.document.warnings ?? [])].join('\n'), /65532.*restricted|restricted.*65532/s);
    });
  },
  { 'pod-security.kubernetes.io/enforce': 'restricted' },
);

async function quota(one: Case, hard: Record<string, string>): Promise<void> {
  const path = `/api/v1/namespaces/${one.namespace}/resourcequotas`;
  await one.api.create(path, { metadata: { name: 'quota' }, spec: { hard } });
}

async function limitRange(one: Case, limits: Record<string, Record<string, string>>): Promise<void> {
  const path = `/api/v1/namespaces/${one.namespace}/limitranges`;
  await one.api.create(path, { metadata: { name: 'limits' }, spec: { limits: [{ type: 'Container', ...limits }] } });
}

/** From the node's own registry. */
async function imageDigest(image: string): Promise<string> {
  const [, name, tag] = /^registry\.test:5000\/(.*):(.*)$/.exec(image) ?? [];
  const headers = { accept: 'application/vnd.oci.image.manifest.v1+json' };
  const answer = await fetch(`http://127.0.0.1:5000/v2/${name}/manifests/${tag}`, { method: 'HEAD', headers });
  return answer.headers.get('docker-content-digest') ?? '';
}
