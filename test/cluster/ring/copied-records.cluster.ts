import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { clusterCases } from '../cases.js';

const OUT = '/cnab/app/outputs';

clusterCases('a run of a machine whose older records another one has', (one) => {
  const other = () => ({ env: { CNAB_HOME: join(one().home, 'other') } });
  const copyRecords = () => cpSync(join(one().home, 'cnab'), join(one().home, 'other'), { recursive: true });

  /** Installed, and the records copied. */
  async function install(): Promise<void> {
    const script = [
      'echo "first of $CNAB_ACTION"',
      'case $CNAB_ACTION in poke | look) sleep 25 ;; esac',
      `echo "last of $CNAB_ACTION" | tee ${OUT}/out`,
    ].join('; ');
    const bundle = one().bundle({ script, outputs: ['out'], more: { actions: { look: { stateless: true } } } });
    const { code, stderr } = await one().install(bundle);
    assert.equal(code, 0, stderr);
    copyRecords();
  }

  it('is not run into, is followed by what that refusal tells to type, and leaves its outputs to each wait of its own', async () => {
    await install();
    const left = await one().act(['invoke', 'app', 'poke', '--detach']);
    assert.equal(left.code, 0, left.stderr);
    const { runId } = left.document;
    const refused = await one().act(['upgrade', 'app'], other());
    assert.equal(refused.code, 8, refused.stderr);
    assert.match(refused.told, new RegExp(`^the poke of "app" .* \\(run ${runId}\\) is not recorded here`));
    const [, told = ''] = /^To see its log: cnab (.*)$/m.exec(refused.told) ?? [];
    assert.match(told, new RegExp(`^logs -f app --run ${runId} `));
    const followed = await Promise.all([told, 'logs -f app'].map((line) => one().run(line.split(' '), other())));
    for (const { code, stdout, stderr } of followed) {
      assert.deepEqual([code, stdout.toString()], [0, 'first of poke\nlast of poke\n'], stderr);
    }
    const looked = await one().act(['wait', 'app', '--run', 'last'], other());
    assert.deepEqual([looked.code, looked.document.runId], [0, runId], looked.stderr);
    for (const folder of ['settles', 'settled']) {
      const waited = await one().act(['wait', 'app', '--outputs-dir', folder]);
      assert.deepEqual([waited.code, waited.document.runId], [0, runId], waited.stderr);
      assert.equal(one().readFile(`${folder}/out`).toString(), 'last of poke\n');
    }
    const { stdout } = await one().run(['logs', '-f', 'app'], other());
    assert.equal(stdout.toString(), 'first of install\nlast of install\n');
    await one().nothingIsLeft();
  });

  it('is in nobody’s way where it leaves no record', async () => {
    await install();
    const looking = one().start(['invoke', 'app', 'look', '--json']);
    await looking.says(/^first of look$/m);
    const { code, stderr } = await one().act(['upgrade', 'app'], other());
    assert.equal(code, 0, stderr);
    assert.equal((await one().acted(looking)).code, 0);
    await one().nothingIsLeft();
  });
});
