import assert from 'node:assert/strict';
import { clusterCases } from '../cases.js';

const OUT = '/cnab/app/outputs';

clusterCases('many runs', (one) => {
  it("20 installs at once end well, and no output is another one's", async function () {
    this.timeout(300_000);
    const script = `echo "$CNAB_INSTALLATION_NAME" > ${OUT}/name; head -c 100000 /dev/urandom > ${OUT}/random
      sha256sum < ${OUT}/random > ${OUT}/sum`;
    const bundle = one().bundle({ script, outputs: ['name', 'random', 'sum'] });
    const names = Array.from({ length: 20 }, (_, index) => `app-${index}`);
    const installs = await Promise.all(names.map((name) => one().act(['install', name, bundle])));
    for (const { code, stderr } of installs) assert.equal(code, 0, stderr);
    for (const [index, name] of names.entries()) {
      const outputs = installs[index]?.document.outputs ?? [];
      const find = (wanted: string) => outputs.find((output) => output.name === wanted);
      assert.equal(find('name')?.value, `${name}\n`);
      assert.equal(String(find('sum')?.value).slice(0, 64), find('random')?.sha256);
    }
    await one().nothingIsLeft(60);
  });

  it('50 bundles that end at once all bring their output back', async function () {
    this.timeout(300_000);
    const bundle = one().bundle({ script: `echo $CNAB_INSTALLATION_NAME > ${OUT}/out`, outputs: ['out'] });
    const names = Array.from({ length: 50 }, (_, index) => `quick-${index}`);
    const next = names.values();
    const line = async (): Promise<void> => {
      for (const name of next) {
        const { code, stderr, document } = await one().act(['install', name, bundle]);
        assert.equal(code, 0, stderr);
        assert.equal(document.outputs[0]?.value, `${name}\n`);
        assert.equal(document.logComplete, true);
      }
    };
    await Promise.all(Array.from({ length: 5 }, line));
    await one().nothingIsLeft(60);
  });

  it('a second run of one installation is refused while the first goes on (exit 7)', async () => {
    const script = 'trap "exit 0" TERM; echo started; while :; do sleep 0.1; done';
    const bundle = one().bundle({ script });
    const first = one().start(['install', 'app', bundle, '--json']);
    await first.says(/^started$/m);
    const second = await one().act(['upgrade', 'app', bundle, '--install']);
    assert.equal(second.code, 7, second.stderr);
    assert.equal((await one().api.jobs(one().namespace)).length, 1);
    first.kill('SIGINT');
    assert.equal((await first.ended).code, 130);
  });
});
