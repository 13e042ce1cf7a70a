import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { identities, processesWith, skipWithoutNamespaces, startMachine, type Machine } from './machine.js';

for (const { name, uid } of identities(process.getuid?.() ?? -1)) {
  describe(`what a hostile bundle can do when ${name} runs it`, () => {
    let machine: Machine;
    before(async function () {
      await skipWithoutNamespaces(this, uid);
      machine = await startMachine(name, uid);
    });
    after(() => machine?.close());

    /** Runs commands of which every one must fail; resolves with what they said. */
    async function allFail(...commands: string[]): Promise<string> {
      const lines = commands.map((command, index) => `(${command}) && echo "WORKED ${index}"`);
      const { stdout, stderr, startError } = await machine.contain([...lines, 'true'].join('\n'));
      assert.equal(startError, undefined);
      assert.equal(stdout, '');
      return stderr;
    }

    it('reads neither /etc/shadow nor a file of the home, and finds the home nowhere', async () => {
      await allFail(
        'cat /etc/shadow',
        `cat '${machine.secret}'`,
        `ls '${machine.home}'`,
        'ls /home',
        'ls /var/lib/dpkg',
        'cat /etc/ssl/private/*',
      );
      const { stdout } = await machine.contain(
        'find / \\( -path /usr -o -path /proc \\) -prune -o -name secret -print; ls -A /root /mnt /media /srv 2>/dev/null; id -u',
      );
      assert.equal(stdout, '/root:\n0\n');
    });

    it("writes nothing that is the machine's", async () => {
      await allFail(
        ...[
          '/usr',
          '/usr/bin',
          '/bin',
          '/lib',
          '/etc/ssl/certs',
          '/etc/alternatives',
          '/dev/pts',
          '/proc',
          '/proc/sys',
        ].map((folder) => `touch ${folder}/x-from-the-bundle`),
        'echo x >> /bin/sh',
        'rm -f /usr/bin/env',
        'echo x > /proc/sys/kernel/core_pattern',
        'echo x > /proc/sys/kernel/hostname',
        'echo 5 > /proc/sys/user/max_user_namespaces',
      );
    });

    it('keeps to itself what it writes in the folders of the root', async () => {
      const { exitCode } = await machine.contain(
        'set -e; for d in / /etc /tmp /root /var/tmp /dev/shm /opt /run; do echo x > $d/x-from-the-bundle; done; echo evil >> /etc/hosts; echo evil >> /etc/passwd',
      );
      assert.equal(exitCode, 0);
      for (const folder of ['/', '/etc', '/tmp', '/root', '/var/tmp', '/dev/shm', '/opt', '/run']) {
        assert.equal(existsSync(`${folder}/x-from-the-bundle`), false, folder);
      }
      assert.doesNotMatch(readFileSync('/etc/hosts', 'utf8') + readFileSync('/etc/passwd', 'utf8'), /evil/);
    });

    it('changes no mount', async () => {
      await allFail(
        ...['/usr', '/proc/sys', '/proc/kcore', '/', '/.sandbox', '/dev/null'].flatMap((point) => [
          `umount ${point}`,
          `umount -l ${point}`,
          `mount -o remount,rw ${point}`,
          `mount -o remount,bind,rw ${point}`,
        ]),
        'mount -t tmpfs t /mnt',
        'mount -t proc p /mnt',
        'mount --bind /usr /tmp',
        'mount -t sysfs s /sys',
        'mount -t cgroup2 c /sys',
        'pivot_root /tmp /tmp',
      );
    });

    it("makes no namespaces, no devices, and joins nobody's", async () => {
      await allFail(
        'unshare --user true',
        'unshare --user --map-root-user --mount true',
        'unshare --mount true',
        'unshare --pid --fork true',
        'nsenter --target 1 --mount true',
        'nsenter --target 1 --pid true',
        'mknod /tmp/disk b 8 0',
        'mknod /tmp/mem c 1 1',
        'chroot /proc/1/root cat /etc/shadow',
        'cat /dev/mem',
        'ls /dev/sda /dev/vda /dev/kmsg',
        'ls /sys/kernel /sys/fs',
      );
    });

    it('sees and signals its own processes only', async () => {
      const { stdout, exitCode } = await machine.contain(`
        sleep 300 &
        kill -9 -1 2>/dev/null
        tr '\\0' ' ' < /proc/1/cmdline; echo
        tr '\\0' '\\n' < /proc/1/environ | sort
        ls /proc | grep -cE '^[0-9]+$'`);
      assert.equal(exitCode, 0);
      const [first, ...rest] = stdout.trim().split('\n');
      assert.equal(first, '/bin/sh /cnab/app/run ');
      assert.deepEqual(rest.slice(0, -1), [
        'HOME=/root',
        'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      ]);
      assert.ok(Number(rest.at(-1)) < 6);
      assert.equal(machine.process.exitCode, null);
    });

    it('has no descriptor but its own three, and no terminal', async () => {
      const { stdout } = await machine.contain(
        'ls /proc/self/fd; ps -o tty= -p $$; (: < /dev/tty) 2>/dev/null && echo terminal',
      );
      assert.match(stdout, /^0\n1\n2\n3\n\?\s*\n$/);
      const { stdout: held } = await machine.contain('ls -l /proc/1/fd');
      assert.doesNotMatch(held, /secret|socket|home dir(?!.*deleted)/);
    });

    it('gains nothing: no new privileges, no set-uid, few capabilities, a user who is nobody outside', async () => {
      const marker = `4${Math.floor(Math.random() * 1e9)}`;
      const waiting = machine.told(
        `grep -E 'NoNewPrivs|CapBnd|CapAmb|CapInh' /proc/self/status; echo ready; sleep ${marker}`,
        { when: { says: 'ready', tell: true } },
      );
      await waiting;
      let outside = await processesWith(`sleep ${marker}`);
      while (outside.length === 0) outside = await processesWith(`sleep ${marker}`);
      for (const { uid: seen } of outside) assert.ok(uid === 0 ? seen >= 1000 : seen === uid, `uid ${seen}`);
      for (const { pid } of outside) process.kill(pid, 'SIGKILL');
      const { stdout } = await machine.contain(
        "grep -E 'NoNewPrivs|CapBnd|CapAmb|CapInh|Seccomp:' /proc/1/status; grep -vE ' (rw|ro)(,[a-z]+)*,nosuid' /proc/self/mountinfo",
      );
      assert.match(stdout, /CapInh:\t0{16}\n/);
      assert.match(stdout, /CapBnd:\t0*405fb\n/);
      assert.match(stdout, /CapAmb:\t0{16}\n/);
      assert.match(stdout, /NoNewPrivs:\t1\n/);
      assert.doesNotMatch(stdout, / - /);
    });

    it('leaves no process, whatever it ignores', async () => {
      const marker = `9${Math.floor(Math.random() * 1e9)}`;
      const { exitCode } = await machine.contain(`
        (setsid sh -c 'trap "" TERM HUP INT QUIT; (setsid sleep ${marker} </dev/null >/dev/null 2>&1 &) ; while :; do sleep ${marker}; done' </dev/null >/dev/null 2>&1 &)
        sleep 0.2`);
      assert.equal(exitCode, 0);
      assert.deepEqual(await processesWith(`sleep ${marker}`), []);
    });

    it("does not touch the bundle's folder, and reads nothing through a link in it", async () => {
      const { run, stdout, stderr } = await machine.contain(
        'echo evil >> /cnab/app/run; rm -f /cnab/app/helper; cat /cnab/app/shadow /cnab/app/home',
        {
          links: { shadow: '/etc/shadow', home: machine.secret },
        },
      );
      assert.doesNotMatch(run, /evil$/m);
      assert.equal(stdout, '');
      assert.match(stderr, /shadow: No such file/);
    });

    it('has a bounded number of processes', async () => {
      const { stdout } = await machine.contain("grep 'Max processes' /proc/self/limits");
      assert.ok(Number(stdout.split(/\s+/)[2]) <= 4096, stdout);
    });

    it('hides what the kernel tells of the whole machine', async () => {
      const { stdout } = await machine.contain(
        'for f in kcore keys timer_list sysrq-trigger; do [ ! -e /proc/$f ] || stat -c "%n %t:%T" /proc/$f; done',
      );
      for (const line of stdout.trim().split('\n')) assert.match(line, / 1:3$/);
    });

    it('can leave folders without rights and paths of any depth, and they go away', async () => {
      const { exitCode, removed, stderr } = await machine.contain(`
        cd /cnab/app/outputs && mkdir -p locked/in && chmod 000 locked/in locked
        i=0; while [ $i -lt 60 ]; do n=$(printf %0200d 0); mkdir $n && cd -P ./$n || exit 4; i=$((i+1)); done`);
      assert.equal(exitCode, 0, stderr);
      assert.equal(removed, true);
    });
  });
}

describe("a file system that is mounted below the machine's programs", () => {
  it('is read-only too, whoever may write there outside', async function () {
    if (process.getuid?.() !== 0) return this.skip();
    await skipWithoutNamespaces(this, 0);
    const mount = 'mount -t tmpfs -o mode=1777 t /usr/share && exec "$@"';
    const machine = await startMachine('root', 0, ['unshare', '--mount', '--', '/bin/sh', '-c', mount, 'sh']);
    try {
      const { stdout, startError } = await machine.contain(
        'ls -A /usr/share; touch /usr/share/x && echo WORKED; id -u',
      );
      assert.deepEqual([startError, stdout], [undefined, '0\n']);
    } finally {
      await machine.close();
    }
  });
});
