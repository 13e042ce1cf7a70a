import assert from 'node:assert/strict';
import type { ContainerSecurity } from '../../../../src/driver/sandbox/api-server/container-runtime.js';
import { joinLine, launchLine, type LaunchOptions } from '../../../../src/driver/sandbox/namespaces/launch-line.js';

const SECURITY: ContainerSecurity = {
  readOnlyRootFilesystem: false,
  addCapabilities: [],
  dropCapabilities: [],
};
const OPTIONS: LaunchOptions = {
  script: 'SCRIPT',
  identity: { id: 1000, privileged: false },
  root: '/home/a b/root',
  hostname: 'pod',
  security: SECURITY,
  limitsProcesses: true,
  freshKeyring: [],
};
const ROOT = { id: 2_000_000_001, privileged: true };

describe('the command line of a container', () => {
  it('makes a user namespace for a user, and none for root before the root folder stands', () => {
    assert.ok(launchLine(OPTIONS).join(' ').includes('unshare --user --map-root-user --mount'));
    assert.ok(
      launchLine({ ...OPTIONS, identity: ROOT })
        .join(' ')
        .includes('-- unshare --mount --ipc --uts --pid --fork'),
    );
  });

  it("takes root's groups away before anything else, and never maps uid 0 outside for root", () => {
    const line = launchLine({ ...OPTIONS, identity: ROOT });
    assert.deepEqual(line.slice(0, 5), ['setpriv', '--pdeathsig', 'KILL', '--clear-groups', '--']);
    assert.deepEqual(line.slice(line.indexOf('pod'), line.indexOf('pod') + 2), ['pod', '2000000001']);
  });

  it('joins a new session keyring before it makes a namespace, as a container and as what joins one', () => {
    const freshKeyring = ['fresh', '--'];
    assert.match(launchLine({ ...OPTIONS, freshKeyring }).join(' '), /^setpriv --pdeathsig KILL -- fresh -- unshare /);
    assert.match(joinLine({ ...OPTIONS, freshKeyring, init: 1, first: 2 }).join(' '), /^fresh -- nsenter /);
  });

  it('gives the script the root folder twice: plain, and as the kernel writes it', () => {
    const line = launchLine(OPTIONS);
    assert.deepEqual(line.slice(line.indexOf('/home/a b/root')).slice(0, 2), ['/home/a b/root', '/home/a\\040b/root']);
  });

  it('ends in a shell that has no new privileges and only the capabilities of a container', () => {
    const line = launchLine(OPTIONS).join(' ');
    assert.match(
      line,
      /prlimit --core=0 --nproc=4096:4096 -- setpriv --no-new-privs --inh-caps=-all --ambient-caps=-all --bounding-set=-all,\+chown,.* --pdeathsig KILL -- \/bin\/sh -s$/,
    );
    assert.doesNotMatch(line, /sys_admin|sys_ptrace|net_admin|mknod|sys_resource/);
  });

  it('leaves the number of processes alone where it would count all those of the user', () => {
    assert.doesNotMatch(launchLine({ ...OPTIONS, limitsProcesses: false }).join(' '), /nproc/);
  });

  it('drops what the pod drops and gives nothing that a container does not have by default', () => {
    const set = (security: Partial<ContainerSecurity>): string | undefined =>
      launchLine({ ...OPTIONS, security: { ...SECURITY, ...security } }).find((word) =>
        word.startsWith('--bounding-set='),
      );
    assert.equal(set({ dropCapabilities: ['ALL'] }), '--bounding-set=-all');
    assert.equal(
      set({ dropCapabilities: ['ALL'], addCapabilities: ['DAC_OVERRIDE'] }),
      '--bounding-set=-all,+dac_override',
    );
    assert.equal(
      set({ dropCapabilities: ['ALL'], addCapabilities: ['SYS_ADMIN', 'CAP_KILL'] }),
      '--bounding-set=-all,+kill',
    );
    assert.doesNotMatch(set({ addCapabilities: ['ALL'] }) ?? '', /sys_admin/);
    assert.doesNotMatch(set({ dropCapabilities: ['chown'] }) ?? '', /\+chown/);
  });

  it('renames the user once more where the pod runs as another one, and then allows one namespace less than it needs more', () => {
    const line = launchLine({ ...OPTIONS, security: { ...SECURITY, runAsUser: 65_532 } });
    const at = line.indexOf('--map-user=65532');
    assert.deepEqual(line.slice(at - 4, at + 2), [
      '1',
      'unshare',
      '--user',
      '--keep-caps',
      '--map-user=65532',
      '--map-group=65532',
    ]);
    assert.equal(launchLine(OPTIONS)[launchLine(OPTIONS).indexOf('prlimit') - 1], '0');
  });

  it('joins a running container as its user: root sheds itself before a program of the container is loaded', () => {
    const join = { ...OPTIONS, init: 7, first: 8 };
    assert.match(
      joinLine({ ...join, identity: ROOT }).join(' '),
      /^setpriv --clear-groups --regid 2000000001 -- nsenter --target 8 .*--preserve-credentials --setuid 0 -- prlimit/,
    );
    assert.match(
      joinLine(join).join(' '),
      /^nsenter --target 7 --user --preserve-credentials -- nsenter --target 8 .*--preserve-credentials -- prlimit/,
    );
  });
});
