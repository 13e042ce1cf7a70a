import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { identities, skipWithoutNamespaces, startMachine, type Machine } from './machine.js';

/** keyctl(2); add_key(2) is two before it. */
const KEYCTL = { x64: 250, arm64: 219 }[process.arch as string];
/** A new session keyring with a secret in it, as a login or a Kerberos client leaves one. */
const WITH_SECRET = `syscall(${KEYCTL}, 1, 0) >= 0 && syscall(${(KEYCTL ?? 0) - 2}, my $type = "user", my $name = "cnab-secret", my $secret = "ticket", 6, -3) >= 0 or die "no keys: $!"; exec @ARGV`;
/** Looks for the secret and reads it. */
const STEAL = `$key = syscall(${KEYCTL}, 10, -3, my $type = "user", my $name = "cnab-secret", 0); $buffer = "\\0" x 64; $size = syscall(${KEYCTL}, 11, $key, $buffer, 64); print $key >= 0 ? "found " . substr($buffer, 0, $size) : "nothing";`;

function perlCanHoldKeys(): boolean {
  return KEYCTL !== undefined && spawnSync('perl', ['-e', WITH_SECRET, '--', 'true']).status === 0;
}

for (const { name, uid } of identities(process.getuid?.() ?? -1)) {
  describe(`the session keyring when ${name} runs a bundle`, () => {
    let machine: Machine;
    before(async function () {
      await skipWithoutNamespaces(this, uid);
      if (!perlCanHoldKeys()) {
        process.stderr.write('SKIPPED the session keyring: it needs perl and a kernel with keyrings\n');
        this.skip();
      }
      machine = await startMachine(name, uid, ['perl', '-e', WITH_SECRET, '--']);
    });
    after(() => machine?.close());

    it('holds a secret of the user, and the bundle finds nothing of it', async () => {
      const { stdout, exitCode } = await machine.contain(`perl -e '${STEAL}'`);
      assert.deepEqual({ stdout, exitCode }, { stdout: 'nothing', exitCode: 0 });
    });

    it('stays closed to a program that joins the container', async () => {
      const { exec } = await machine.contain('echo up; sleep 50', {
        when: { says: 'up', exec: ['perl', '-e', STEAL] },
      });
      assert.deepEqual(exec, { code: 0, output: 'nothing' });
    });
  });
}
