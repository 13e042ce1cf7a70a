import assert from 'node:assert/strict';
import { SandboxStage, spellings } from './sandbox-stage.js';

const KEY = 'a-sensitive-output-that-no-log-may-hold-91c2e4';

describe('a sensitive output', function () {
  this.timeout(60_000);
  let stage: SandboxStage;
  beforeEach(() => (stage = new SandboxStage()));
  afterEach(() => stage.close());

  for (const [what, more] of [
    ['beside small ones', ''],
    ['beside one above small', 'head -c 6291456 /dev/zero | tr "\\0" x > large'],
  ] as const) {
    it(`${what}: its bytes and their base64 are in no log of the pod, not in what the command says, and in no document`, async () => {
      const run = `cd /cnab/app/outputs; echo note > note; printf '%s' '${KEY.slice(0, 20)}''${KEY.slice(20)}' > key; : > large; ${more}`;
      const bundle = stage.bundle({
        run,
        outputs: { note: 'note', key: 'key', large: 'large' },
        sensitive: ['key'],
      });
      const { code, document, stdout, stderr } = await stage.install(bundle, []);
      assert.deepEqual([code, document.status], [0, 'succeeded'], stderr);
      const shown = [
        stdout,
        stderr,
        (await stage.run(['outputs', 'list', 'app', '-o', 'yaml'])).stdout,
        (await stage.run(['show', 'app', '--json'])).stdout,
        (await stage.run(['logs', 'app'])).stdout,
        stage.logs(),
        stage.documents(),
      ].join('\n');
      assert.match(stage.logs(), / entry 0 file 5 /, 'the log of the sidecar was looked at');
      for (const text of spellings(KEY)) assert.ok(!shown.includes(text), text);
      assert.equal((await stage.output('key')).toString(), KEY, 'it arrived all the same');
    });
  }

  it('is refused before anything runs where exec is not to be used, unless its owner lets it into the log', async () => {
    const outputs = { key: 'key' };
    const bundle = stage.bundle({ run: `printf x > /cnab/app/outputs/key`, outputs, sensitive: ['key'] });
    const refused = await stage.install(bundle, ['--outputs-via', 'log']);
    assert.deepEqual([refused.code, refused.document.ran], [2, 'no'], refused.stderr);
    assert.match(refused.stderr + refused.stdout, /--sensitive-outputs/);
    const allowed = await stage.install(bundle, ['--outputs-via', 'log', '--sensitive-outputs', 'log']);
    assert.equal(allowed.code, 0, allowed.stderr);
    assert.match(stage.logs(), / data 0 0 0 eA== /);
  });
});
