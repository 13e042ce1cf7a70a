import assert from 'node:assert/strict';
import { join } from 'node:path';
import { clusterCases } from '../cases.js';
import { makeUser, readmeRules, without } from '../user.js';

const OUT = '/cnab/app/outputs';

clusterCases('a run that more than one command knows', (one) => {
  const jobs = async (): Promise<number> => (await one().api.jobs(one().namespace)).length;

  it('is the one command’s that is on it, also where another user knows its namespace as another target', async () => {
    const rules = without(readmeRules(one().namespace), 'get', 'namespaces');
    const { kubeconfig } = await makeUser(one(), rules);
    const script = `echo first; sleep 8; echo second; head -c 3000000 /dev/zero > ${OUT}/out`;
    const command = one().start(['install', 'app', one().bundle({ script, outputs: ['out'] }), '--json']);
    await command.says(/^first$/m);
    const second = await one().act(['resume', 'app'], { kubeconfig });
    assert.equal(second.code, 7, second.stderr);
    assert.match(second.told, /^run 0\w+ of "app" is in use: install by process \d+ on /);
    const { code, stderr, document } = await one().acted(command);
    assert.equal(code, 0, stderr);
    assert.deepEqual([document.logComplete, document.outputs[0]?.size], [true, 3_000_000]);
    await one().nothingIsLeft();
  });

  it('keeps its Job where that was asked for when it was begun, whoever takes it up', async () => {
    const bundle = one().bundle({ script: 'echo first; sleep 3' });
    await one().install(bundle, ['--detach', '--keep-job']);
    const waited = await one().act(['wait', 'app'], { env: { CNAB_HOME: join(one().home, 'elsewhere') } });
    assert.equal(waited.code, 0, waited.stderr);
    assert.equal(await jobs(), 1);
    // The command that began it finds it settled by another, and leaves the Job there as well.
    const resumed = await one().act(['resume', 'app']);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.equal(await jobs(), 1);
  });

  it('keeps its Job also when it is given up: no run tool of it runs beside the next', async () => {
    const bundle = one().bundle({ script: 'trap "" TERM; echo first; sleep 600' });
    const command = one().start(['install', 'app', bundle, '--keep-job', '--json']);
    await command.says(/^first$/m);
    command.kill('SIGKILL');
    await command.ended;
    const quick = one().bundle({ script: 'echo done' });
    const next = await one().install(quick, ['--force', '--grace-period', '2s']);
    assert.equal(next.code, 0, next.stderr);
    assert.match(next.stderr, /is given up: it is stopped, and its Job stays\./);
    assert.equal(await jobs(), 1);
  });
});
