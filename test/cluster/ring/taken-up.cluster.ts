import assert from 'node:assert/strict';
import { join } from 'node:path';
import { clusterCases } from '../cases.js';
import { eventually } from '../eventually.js';

const OUT = '/cnab/app/outputs';

/** Says each step once; the log tells how often it ran. */
const steps = (output: string): string => `echo first; sleep 6; echo second; echo result > ${OUT}/${output}`;

clusterCases('a run whose command is gone', (one) => {
  /** A machine that has no record of anything. */
  const elsewhere = () => ({ env: { CNAB_HOME: join(one().home, 'elsewhere') } });

  async function kill(bundle = one().bundle({ script: steps('out'), outputs: ['out'] }), ...flags: string[]) {
    const command = one().start(['install', 'app', bundle, '--json', ...flags]);
    await command.says(/^first$/m);
    command.kill('SIGKILL');
    await command.ended;
  }

  async function ranOnce(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const { stdout } = await one().run(['logs', 'app'], { env });
    assert.deepEqual(stdout.toString().match(/first|second/g), ['first', 'second']);
  }

  it('is taken up where its record is: log, outputs and end are those of a run without a kill', async () => {
    await kill();
    const resumed = await one().act(['resume', 'app']);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.deepEqual([resumed.document.status, resumed.document.exitCode], ['succeeded', 0]);
    assert.equal((await one().output('out')).toString(), 'result\n');
    await ranOnce();
    await one().nothingIsLeft();
  });

  it('is taken up by its name alone from a machine that has no record', async () => {
    await kill();
    const resumed = await one().act(['resume', 'app'], elsewhere());
    assert.equal(resumed.code, 0, resumed.stderr);
    const { stdout } = await one().run(['outputs', 'show', 'app', 'out'], elsewhere());
    assert.equal(stdout.toString(), 'result\n');
    await ranOnce(elsewhere().env);
    await one().nothingIsLeft();
  });

  it('is canceled by resume --cancel, and nothing is left', async () => {
    await kill(one().bundle({ script: 'echo first; sleep 600' }));
    const canceled = await one().act(['resume', 'app', '--cancel', '--grace-period', '2s']);
    assert.equal(canceled.code, 0, canceled.stderr);
    assert.equal(canceled.document.status, 'canceled');
    await one().nothingIsLeft();
  });

  it('is left by --detach once it is safe; logs -f follows it from another machine, and wait has its exit code', async () => {
    const bundle = one().bundle({ script: `${steps('out')}; exit 3`, outputs: ['out'] });
    const left = await one().install(bundle, ['--detach']);
    assert.equal(left.code, 0, left.stderr);
    assert.equal(left.document.status, 'running');
    const follower = one().start(['logs', 'app', '-f'], elsewhere());
    const waited = await one().act(['wait', 'app']);
    assert.equal(waited.code, 1, waited.stderr);
    assert.equal(waited.document.exitCode, 3);
    const followed = await follower.ended;
    assert.match(`${followed.stdout.toString()}${followed.stderr}`, /first[\s\S]*second/);
  });

  it('whose outputs nobody fetched within the hold time keeps its verdict and says which output is lost', async () => {
    const bundle = one().bundle({ script: steps('token'), sensitive: ['token'] });
    await kill(bundle, '--hold-time', '10s', '--grace-period', '5s');
    await eventually('the pod has ended', 90, async () => {
      const phase = (await one().pod())?.status?.phase;
      return phase === 'Succeeded' || phase === 'Failed';
    });
    const resumed = await one().act(['resume', 'app']);
    assert.equal(resumed.code, 5, resumed.stderr);
    assert.deepEqual([resumed.document.ran, resumed.document.exitCode], ['yes', 0]);
    assert.match(resumed.told, /"token"/);
  });

  it('by Ctrl-C while its outputs are on their way: the verdict stands, resume brings the rest, and then nothing is left', async () => {
    // 32 MiB of base64 in the log take longer than a signal.
    const script = `head -c 25165824 /dev/zero > ${OUT}/out; echo ended`;
    const bundle = one().bundle({ script, outputs: ['out'] });
    const command = one().start(['install', 'app', bundle, '--json', '--outputs-via', 'log']);
    await command.says(/^ended$/m);
    await command.says(/collecting outputs/);
    command.kill('SIGINT');
    const { code, stderr, document, told } = await one().acted(command);
    assert.equal(code, 130, stderr);
    assert.deepEqual([document.ran, document.exitCode], ['yes', 0]);
    assert.match(told, /cnab resume app/);
    const resumed = await one().act(['resume', 'app']);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.ok((await one().output('out')).equals(Buffer.alloc(25165824)));
    // The sidecar ends by its own schedule: three passes, with half a minute before the last.
    await one().nothingIsLeft(180);
  }).timeout(300_000);
});
