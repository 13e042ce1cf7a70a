import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { serverCommand } from '../../../../src/driver/sandbox/server-command.js';
import { identities, skipWithoutNamespaces } from './machine.js';

const PROBE = new URL('../../../../src/driver/sandbox/namespaces/probe.ts', import.meta.url).href;

/** What the probe says in a user namespace of its own, in which these shell commands have run. */
function probeAfter(commands: string): string {
  const script = `
    const { explain, gatherFacts } = await import(${JSON.stringify(PROBE)});
    console.log(explain(await gatherFacts('linux', Number(process.argv[1])))?.message ?? 'fine');`;
  const [node = '', flag = '', loader = ''] = serverCommand(process.execPath);
  const { stdout, stderr } = spawnSync(
    'unshare',
    [
      '--user',
      '--map-root-user',
      '--',
      'sh',
      '-c',
      `${commands}; exec "$@"`,
      'sh',
      node,
      flag,
      loader,
      '--input-type=module',
      '--eval',
      script,
      '1000',
    ],
    { encoding: 'utf8' },
  );
  return stdout.trim() || stderr;
}

describe('the probe, where a rule really forbids namespaces', () => {
  before(async function () {
    for (const { uid } of identities(process.getuid?.() ?? -1)) await skipWithoutNamespaces(this, uid);
  });

  it('has no complaint where there is none', () => assert.equal(probeAfter(':'), 'fine'));

  it('names user.max_user_namespaces', () => {
    assert.match(
      probeAfter('echo 0 > /proc/sys/user/max_user_namespaces'),
      /user\.max_user_namespaces is 0, so nobody may make a user namespace$/,
    );
  });

  it('names the limits of the other kinds', () => {
    assert.match(probeAfter('echo 0 > /proc/sys/user/max_mnt_namespaces'), /the limit on namespaces is reached/);
  });
});
