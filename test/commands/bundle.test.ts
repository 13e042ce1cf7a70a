import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDED_BUNDLE } from '../helpers/recorded-installation.js';
import { removeHome, runCnab, temporaryHome } from '../helpers/run-cnab.js';

const BROKEN = `{
  "schemaVersion": "v1.2.0",
  "name": "",
  "version": "1.0.0",
  "invocationImages": [{ "image": "x" }],
  "outputs": { "a": { "definition": "nowhere", "path": "/etc/passwd" } }
}
`;

describe('cnab bundle', () => {
  let home: string;
  before(() => {
    home = temporaryHome();
    writeFileSync(join(home, 'good.json'), JSON.stringify(RECORDED_BUNDLE));
    writeFileSync(join(home, 'broken.json'), BROKEN);
    writeFileSync(join(home, 'half.json'), '{"name":');
  });
  after(() => removeHome(home));

  it('validate lists every problem as file:line:column: message (pointer), and exits 2', async () => {
    const { code, stdout, stderr } = await runCnab(
      ['bundle', 'validate', 'good.json', 'broken.json', 'half.json', 'gone.json'],
      { home },
    );
    assert.equal(code, 2);
    assert.match(stdout, /^good\.json: valid: demo 1\.0\.0, sha256:[0-9a-f]{64}$/m);
    for (const line of [
      /^broken\.json:3:11: .* \(\/name\)$/m,
      /^broken\.json:6:\d+: .* \(\/outputs\/a\/definition\)$/m,
      /^broken\.json:6:\d+: .* \(\/outputs\/a\/path\)$/m,
      /^half\.json:1:\d+: /m,
      /^gone\.json: there is no file/m,
    ]) {
      assert.match(stdout, line);
    }
    assert.equal(stderr, 'error: 3 of 4 bundles are not valid\n');
  });

  it('validate says the same in one document', async () => {
    const { code, stdout } = await runCnab(['bundle', 'validate', 'broken.json', '--json'], { home });
    const body = JSON.parse(stdout) as { valid: boolean; bundles: { problems: { pointer: string; line: number }[] }[] };
    assert.deepEqual([code, body.valid], [2, false]);
    assert.ok(body.bundles[0]?.problems.some(({ pointer, line }) => pointer === '/outputs/a/path' && line === 6));
  });

  it('validate is exit 0 for good ones, also from standard input', async () => {
    const { code, stdout } = await runCnab(['bundle', 'validate', 'good.json', '-'], {
      home,
      input: JSON.stringify(RECORDED_BUNDLE),
    });
    assert.equal(code, 0);
    assert.match(stdout, /^standard input: valid: demo 1\.0\.0/m);
  });

  it('show tells what a bundle has, and no default of a secret', async () => {
    const bundle = {
      ...RECORDED_BUNDLE,
      definitions: { ...RECORDED_BUNDLE.definitions, secret: { type: 'string', writeOnly: true, default: 'hunter2' } },
    };
    const { code, stdout } = await runCnab(['bundle', 'show', '-'], { home, input: JSON.stringify(bundle) });
    assert.equal(code, 0);
    assert.match(stdout, /^Bundle: +demo 1\.0\.0$/m);
    assert.match(
      stdout,
      /^OUTPUT +TYPE +SENSITIVE +ACTIONS +DESCRIPTION\nurl +string\ncount +integer\npassword +string +yes\nblob$/m,
    );
    const json = await runCnab(['bundle', 'show', '-', '--json'], { home, input: JSON.stringify(bundle) });
    assert.doesNotMatch(stdout + json.stdout, /hunter2/);
    assert.deepEqual(
      (JSON.parse(json.stdout) as { actions: { name: string }[] }).actions.map(({ name }) => name),
      ['install', 'upgrade', 'uninstall'],
    );
  });

  it('is not run on this machine where there is no cluster: exit 3, and how to try it', async () => {
    const args = ['install', 'app', 'good.json', '-p', 'greeting=x', '-p', 'token=x'];
    const { code, stderr } = await runCnab(args, { home, env: { KUBECONFIG: '' } });
    assert.equal(code, 3);
    assert.match(stderr, /^error: no cluster: /m);
    assert.match(stderr, /--driver sandbox/);
    const mistyped = await runCnab([...args, '--json'], { home });
    assert.equal(mistyped.code, 3, mistyped.stderr);
    assert.equal((JSON.parse(mistyped.stdout) as { ran: string }).ran, 'no');
  });

  it('is not run by a driver that there is not', async () => {
    const { code, stderr } = await runCnab(['install', 'app', 'good.json', '-d', 'dokcer'], { home });
    assert.equal(code, 2);
    assert.match(stderr, /^error: there is no driver "dokcer"/m);
  });
});
