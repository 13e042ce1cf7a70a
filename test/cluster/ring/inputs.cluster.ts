import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { NONROOT_TOOL, TOOL } from '../bundle.js';
import { clusterCases } from '../cases.js';

const OUT = '/cnab/app/outputs';
const CREDENTIAL = {
  credentials: { secret: { env: 'SECRET', required: true } },
};
const FILE_CREDENTIAL = { credentials: { secret: { path: '/etc/tool/secret', required: true } } };

clusterCases('what a bundle is given on a cluster', (one) => {
  for (const [who, image] of [
    ['root', TOOL],
    ['a user that is not root', NONROOT_TOOL],
  ] as const) {
    it(`a kubeconfig below /root or a home is changed in place by an image that runs as ${who}`, async () => {
      const path = image === TOOL ? '/root/.kube/config' : '/home/nonroot/.kube/config';
      const more = { credentials: { kubeconfig: { path, required: true } } };
      const script = `umask 077; echo 'current-context: other' >> ${path} && cat ${path} > ${OUT}/config; id -u > ${OUT}/uid`;
      const bundle = one().bundle({ script, image, outputs: ['config', 'uid'], more });
      const content = `apiVersion: v1 # ${randomBytes(8).toString('hex')}\n`;
      const file = one().file('given', content);
      const { code, stderr } = await one().install(bundle, ['--credential', `kubeconfig=path:${file}`]);
      assert.equal(code, 0, stderr);
      assert.equal((await one().output('config')).toString(), `${content}current-context: other\n`);
      assert.equal((await one().output('uid')).toString(), image === TOOL ? '0\n' : '65532\n');
    });
  }

  it('a file that is given cannot be replaced, only written: the documented limit of mv and sed -i', async () => {
    const script = `echo new > /tmp/new; mv /tmp/new /etc/tool/secret && echo replaced || echo refused`;
    const bundle = one().bundle({ script, more: FILE_CREDENTIAL });
    const { code, stderr } = await one().install(bundle, ['--credential', 'secret=env:S'], { env: { S: 'xyzzy' } });
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^refused$/m);
  });

  it('parameters keep what a shell or Kubernetes would expand, in variables and in files', async () => {
    const value = `$(HOME) $$(X) $\{Y} \`id\` "quoted" 'single' back\\slash\ttab\nsecond line ü 🚀 `;
    const more = {
      definitions: { p: { type: 'string' } },
      parameters: { p: { definition: 'p', destination: { env: 'P', path: '/etc/tool/p' } } },
    };
    const script = `printf %s "$P" > ${OUT}/env; cat /etc/tool/p > ${OUT}/file`;
    const bundle = one().bundle({ script, outputs: ['env', 'file'], more });
    const { code, stderr } = await one().install(bundle, ['-p', `p=${value}`]);
    assert.equal(code, 0, stderr);
    assert.equal((await one().output('env')).toString(), value);
    assert.equal((await one().output('file')).toString(), value);
  });

  it('3 MiB in several files arrive whole, in as many Secrets as they need, which are gone afterwards', async () => {
    const names = ['a', 'b', 'c'];
    const credentials = Object.fromEntries(names.map((name) => [name, { path: `/etc/tool/${name}`, required: true }]));
    const contents = names.map(() => randomBytes(1024 * 1024));
    const script = `cat /etc/tool/a /etc/tool/b /etc/tool/c > ${OUT}/all`;
    const bundle = one().bundle({ script, outputs: ['all'], more: { credentials } });
    const flags = names.flatMap((name, index) => {
      const file = one().file(name, contents[index] ?? '');
      return ['--credential', `${name}=path:${file}`];
    });
    const { code, stderr } = await one().install(bundle, flags);
    assert.equal(code, 0, stderr);
    assert.ok(Buffer.concat(contents).equals(await one().output('all')));
    await one().nothingIsLeft();
  });

  it('a credential as a file may have any bytes: NUL, not UTF-8, 200 KiB', async () => {
    const content = randomBytes(200 * 1024);
    const script = `cp /etc/tool/secret ${OUT}/secret`;
    const bundle = one().bundle({ script, outputs: ['secret'], more: FILE_CREDENTIAL });
    const file = one().file('given', content);
    const { code, stderr } = await one().install(bundle, ['--credential', `secret=path:${file}`]);
    assert.equal(code, 0, stderr);
    assert.ok(content.equals(await one().output('secret')));
  });

  for (const [what, content] of [
    ['is not UTF-8', Buffer.from([0x61, 0xff, 0x62])],
    ['has a NUL', Buffer.from('a\0b')],
    ['has 200 KiB', Buffer.alloc(200 * 1024, 'a')],
  ] as const) {
    it(`a credential as a variable that ${what} is refused before anything is created (exit 2)`, async () => {
      const bundle = one().bundle({ script: 'true', more: CREDENTIAL });
      const file = one().file('given', content);
      const { code, told, stderr } = await one().install(bundle, ['--credential', `secret=path:${file}`]);
      assert.equal(code, 2, stderr);
      assert.match(told, /credential "secret".*"SECRET"/);
      await one().nothingIsLeft(0);
      const { stdout } = await one().run(['list', '-a', '--json']);
      assert.doesNotMatch(stdout.toString(), /"app"/, 'no record is made');
    });
  }

  it('of 100 KiB in one variable and 100 variables arrive whole', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `V${index}`);
    const more = {
      definitions: { p: { type: 'string' } },
      parameters: Object.fromEntries(names.map((name) => [name, { definition: 'p', destination: { env: name } }])),
    };
    const script = `env | grep '^V[0-9]*=' | sort > ${OUT}/env`;
    const bundle = one().bundle({ script, outputs: ['env'], more });
    const values = Object.fromEntries(
      names.map((name, index) => [name, index === 0 ? 'x'.repeat(100_000) : `v${index}`]),
    );
    const file = one().file('params.json', JSON.stringify(values));
    const { code, stderr } = await one().install(bundle, ['--params', file]);
    assert.equal(code, 0, stderr);
    const expected = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
    assert.deepEqual((await one().output('env')).toString(), expected.sort().join(''));
  });

  it('no token of the cluster reaches a bundle that names no service account', async () => {
    const script = `ls /var/run/secrets/kubernetes.io/serviceaccount 2> /dev/null && echo token || echo none`;
    const { code, stderr } = await one().install(one().bundle({ script }));
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^none$/m);
  });
});
