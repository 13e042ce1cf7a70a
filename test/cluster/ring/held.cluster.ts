import assert from 'node:assert/strict';
import { join } from 'node:path';
import { clusterCases } from '../cases.js';

const OUT = '/cnab/app/outputs';

clusterCases('a run that a live command is on', (one) => {
  /** A machine that has no record of anything. */
  const elsewhere = () => ({ env: { CNAB_HOME: join(one().home, 'elsewhere') } });
  /** Its output is held until the command that has it all says so. */
  const script = `echo first; sleep 25; head -c 8388608 /dev/zero > ${OUT}/out; echo last`;

  async function install() {
    const command = one().start(['install', 'app', one().bundle({ script, outputs: ['out'] }), '--json']);
    await command.says(/^first$/m);
    return command;
  }

  it('is refused to resume from another machine, and gives its exit code to wait there: its outputs come where they were asked for', async () => {
    const command = await install();
    const waiting = one().act(['wait', 'app'], elsewhere());
    const [refused, left] = await Promise.all([
      one().act(['resume', 'app'], elsewhere()),
      one().act(['wait', 'app', '--timeout', '1s'], elsewhere()),
    ]);
    assert.equal(refused.code, 7, refused.stderr);
    assert.match(refused.told, /process \d+ on \S+ has been on run .*, and lives[^]*--take-over/);
    assert.equal(left.code, 10, left.stderr);
    const waited = await waiting;
    assert.equal(waited.code, 0, waited.stderr);
    assert.deepEqual([waited.document.status, waited.document.exitCode], ['succeeded', 0]);
    const { code, stderr } = await one().acted(command);
    assert.equal(code, 0, stderr);
    assert.ok((await one().output('out')).equals(Buffer.alloc(8388608)));
    assert.equal((await one().run(['show', 'app'], elsewhere())).code, 6);
    await one().nothingIsLeft();
  }).timeout(180_000);

  it('is taken over by resume --take-over: all of it comes there, and the command that had it says who has it now', async () => {
    const command = await install();
    const taken = await one().act(['resume', 'app', '--take-over'], elsewhere());
    assert.equal(taken.code, 0, taken.stderr);
    const { code, told } = await one().acted(command);
    assert.equal(code, 8, told);
    assert.match(told, /process \d+ on \S+ has taken the run over at /);
    const { stdout } = await one().run(['outputs', 'show', 'app', 'out'], elsewhere());
    assert.ok(stdout.equals(Buffer.alloc(8388608)));
    await one().nothingIsLeft();
  }).timeout(180_000);
});
