import assert from 'node:assert/strict';
import process from 'node:process';
import { identities, processesWith, skipWithoutNamespaces, startMachine, type Machine } from './machine.js';

/** The command line with which `enter.sh` goes on once the rights are to be given up. */
const GIVES_UP = 'prlimit';

for (const { name, uid } of identities(process.getuid?.() ?? -1)) {
  describe(`what holds when giving up the rights has failed, for ${name}`, () => {
    let machine: Machine;
    before(async function () {
      await skipWithoutNamespaces(this, uid);
      machine = await startMachine(name, uid);
    });
    after(() => machine?.close());

    const withRights = (script: string) => machine.contain(script, { keepRightsFrom: GIVES_UP });

    it('has every capability in the inner user namespace, so that the rest of these tests means something', async () => {
      const { stdout } = await withRights(
        'grep CapEff /proc/self/status; mkdir /m && mount -t tmpfs t /m && echo mounted',
      );
      assert.match(stdout, /CapEff:\t0*1[f]+\nmounted\n/);
    });

    it("cannot write on the machine's folders nor uncover what is hidden: the mounts are locked", async () => {
      const { stdout, startError } = await withRights(`
        for p in /usr /etc/ssl/certs /proc/kcore /proc/timer_list /dev/null; do
          umount $p && echo "umount $p"; umount -l $p && echo "umount -l $p"
          mount -o remount,bind,rw $p && echo "remount $p"
          mount -o remount,rw $p && echo "remount2 $p"
        done
        mkdir -p /m /n
        mount --bind /usr /m && touch /m/x-from-the-bundle && echo wrote
        mount --rbind / /n && mount -o remount,bind,rw /n/usr && echo rebound
        touch /n/usr/x-from-the-bundle && echo wrote
        umount -l / && echo uprooted
        mount -t proc p /m && echo proc
        cat /etc/shadow && echo shadow
        true`);
      assert.equal(startError, undefined);
      assert.doesNotMatch(stdout, /umount|remount|wrote|rebound|uprooted|proc|shadow/);
    });

    it('reaches no file of the user, no device and no other process', async () => {
      const { stdout } = await withRights(`
        cat '${machine.secret}'; mknod /tmp/mem c 1 1 && cat /tmp/mem; nsenter -t 1 -m cat /etc/shadow
        unshare -U -r -m cat /etc/shadow
        kill -9 -1; echo alive; ls /proc | grep -cE '^[0-9]+$'`);
      const [alive, count] = stdout.trim().split('\n');
      assert.equal(alive, 'alive');
      assert.ok(Number(count) < 5);
      assert.equal(machine.process.exitCode, null);
    });
  });

  describe(`when the process that made the containers is killed, for ${name}`, () => {
    it('all of them end with it, also one that has cleared its parent-death signal', async function () {
      await skipWithoutNamespaces(this, uid);
      const machine = await startMachine(name, uid);
      try {
        const marker = `7${Math.floor(Math.random() * 1e9)}`;
        await machine.told(
          `exec setpriv --pdeathsig clear sh -c 'trap "" TERM HUP; setsid sleep ${marker} & echo ready; sleep ${marker}'`,
          {
            when: { says: 'ready', tell: true },
          },
        );
        assert.ok((await processesWith(`sleep ${marker}`)).length >= 1);
        const ended = new Promise((resolve) => machine.process.on('exit', resolve));
        machine.process.kill('SIGKILL');
        await ended;
        for (let wait = 0; wait < 100 && (await processesWith(marker)).length > 0; wait += 1)
          await new Promise((resolve) => setTimeout(resolve, 20));
        assert.deepEqual(await processesWith(marker), []);
      } finally {
        await machine.close();
      }
    });
  });
}
