import assert from 'node:assert/strict';
import process from 'node:process';
import { identities, processesWith, skipWithoutNamespaces, startMachine, type Machine } from './machine.js';

const SECURITY = {
  readOnlyRootFilesystem: false,
  addCapabilities: [],
  dropCapabilities: [],
};

for (const { name, uid } of identities(process.getuid?.() ?? -1)) {
  describe(`a container, for ${name}`, () => {
    let machine: Machine;
    before(async function () {
      await skipWithoutNamespaces(this, uid);
      machine = await startMachine(name, uid);
    });
    after(() => machine?.close());

    it('runs the run tool as PID 1 and uid 0 and ends with its exit code', async () => {
      const { exitCode, stdout, stderr } = await machine.contain(
        'echo "$$ $(id -u) $(hostname) $(pwd)"; echo to-stderr >&2; exit 7',
      );
      assert.deepEqual({ exitCode, stdout, stderr }, { exitCode: 7, stdout: '1 0 pod-1 /\n', stderr: 'to-stderr\n' });
    });

    it('gets files at any path with missing parents, writable in place and not replaceable', async () => {
      const files = {
        '/root/.kube/config': 'kubeconfig\n',
        '/cnab/bundle.json': '{}',
        '/a b/ü/\\ deep': 'x',
        '/etc/app.conf': 'y',
        '/etc/hosts': '10.0.0.1 here\n',
      };
      const { stdout, exitCode } = await machine.contain(
        'cat /root/.kube/config "/a b/ü/\\\\ deep" /etc/app.conf; getent hosts here; echo more >> /root/.kube/config && cat /root/.kube/config; mv /etc/app.conf /tmp/x 2>/dev/null || echo busy',
        { files },
      );
      assert.equal(exitCode, 0);
      assert.equal(stdout, 'kubeconfig\nxy10.0.0.1        here\nkubeconfig\nmore\nbusy\n');
    });

    it('leaves its outputs in the volume, of whatever mode', async () => {
      const { outputs } = await machine.contain(
        'cd /cnab/app/outputs && umask 077 && echo private > p && head -c 3 /dev/zero > zeros && : > empty',
      );
      assert.deepEqual(outputs, { p: 'private\n', zeros: '\0\0\0', empty: '' });
    });

    it('gets the environment of the pod, byte for byte, and no other', async () => {
      const env = {
        LD_PRELOAD: '/nowhere.so',
        'my.var': 'odd',
        MULTI: "two\nlines 'quoted' $X",
        UTF: 'ü🙂',
        EMPTY: '',
        UID: '5',
      };
      const { stdout } = await machine.contain("tr '\\0' '\\n' < /proc/self/environ > /dev/null; cat /proc/1/environ", {
        env,
        spec: { command: ['/bin/cat', '/proc/self/environ'] },
      });
      const expected = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', ...env };
      const got = Buffer.from(stdout, 'latin1').toString('utf8').split('\0').filter(Boolean).sort();
      assert.deepEqual(
        got,
        Object.entries(expected)
          .map(([key, value]) => `${key}=${value}`)
          .sort(),
      );
    });

    it('opens /dev/stdout and /dev/stderr like in any container', async () => {
      const { stdout, stderr } = await machine.contain(
        'echo out > /dev/stdout; echo err | tee /dev/stderr > /dev/null',
      );
      assert.deepEqual({ stdout, stderr }, { stdout: 'out\n', stderr: 'err\n' });
    });

    it('hands over 8 MiB of output whole and in order', async () => {
      const { stdout } = await machine.contain(
        'i=0; while [ $i -lt 128 ]; do head -c 65535 /dev/zero | tr "\\0" x; echo; i=$((i+1)); done',
      );
      assert.equal(stdout.length, 128 * 65_536);
      assert.equal(stdout, `${'x'.repeat(65_535)}\n`.repeat(128));
    });

    it('has a /dev and a /proc that programs expect', async () => {
      const { stdout, stderr, exitCode } = await machine.contain(`
        set -e; head -c 4 /dev/urandom > /dev/null; head -c 2 /dev/random > /dev/null; echo x > /dev/null; echo x > /dev/shm/y
        [ "$(head -c 2 /dev/zero | od -An -tx1 | tr -d ' ')" = 0000 ]; (: > /dev/full; echo x > /dev/full) 2>/dev/null && exit 9
        grep -q MemTotal /proc/meminfo; grep -q grep /proc/self/cmdline; ls /dev/fd/ > /dev/null; date > /dev/null; getent passwd root | cut -d: -f1,6`);
      assert.deepEqual({ stdout, stderr, exitCode }, { stdout: 'root:/root\n', stderr: '', exitCode: 0 });
    });

    it("runs a bundle's own programs and keeps its files' modes", async () => {
      const { stdout } = await machine.contain(
        'stat -c "%a %U" /cnab/app/run; cp /bin/true /tmp/t && /tmp/t && echo executed',
      );
      assert.equal(stdout, '755 root\nexecuted\n');
    });

    it('hears SIGTERM as PID 1 when it has a trap, and not when it has none', async () => {
      const when = { says: 'ready', kill: 'SIGTERM' } as const;
      const trapped = await machine.contain(
        'trap "echo stopping; exit 3" TERM; echo ready; while :; do sleep 0.05; done',
        { when },
      );
      assert.deepEqual([trapped.exitCode, trapped.stdout], [3, 'ready\nstopping\n']);
      const deaf = await machine.contain('echo ready; sleep 0.3; exit 4', { when });
      assert.equal(deaf.exitCode, 4);
    });

    it('ends with all its processes and 137 at SIGKILL', async () => {
      const marker = `5${Math.floor(Math.random() * 1e9)}`;
      const { exitCode } = await machine.contain(
        `setsid sleep ${marker} & trap "" TERM; echo ready; while :; do sleep ${marker}; done`,
        { when: { says: 'ready', kill: 'SIGKILL' } },
      );
      assert.equal(exitCode, 137);
      assert.deepEqual(await processesWith(`sleep ${marker}`), []);
    });

    it('ends with 128 and the signal when a signal ends the run tool', async () => {
      const { exitCode } = await machine.contain('#!/bin/sh\nsh -c "kill -SEGV \\$\\$" 2>/dev/null; exit $?\n');
      assert.equal(exitCode, 139);
    });

    it('runs a command beside the first process: same user, root and environment', async () => {
      const exec = ['sh', '-c', 'echo "$A $(id -u) $(cat /tmp/left) $(tr "\\0" " " < /proc/1/cmdline)"; exit 9'];
      const { exec: beside } = await machine.contain('echo here > /tmp/left; echo ready; sleep 50', {
        env: { A: 'a' },
        when: { says: 'ready', exec },
      });
      assert.deepEqual(beside, { code: 9, output: 'a 0 here /bin/sh /cnab/app/run \n' });
    });

    it('says of a command beside it that is not there that it cannot be started', async () => {
      const { exec } = await machine.contain('echo ready; sleep 50', {
        when: { says: 'ready', exec: ['no-such-command'] },
      });
      assert.deepEqual(exec, {
        code: -1,
        output: 'StartError: cannot start the container: there is no command no-such-command',
      });
    });

    it('runs as the user that the pod names, also beside', async () => {
      const { stdout, exec, outputs } = await machine.contain(
        'id -u; grep CapEff /proc/self/status; echo mine > /cnab/app/outputs/o; echo ready; sleep 50',
        {
          spec: { security: { ...SECURITY, runAsUser: 65_532 } },
          when: { says: 'ready', exec: ['id', '-u'] },
        },
      );
      assert.equal(stdout, '65532\nCapEff:\t0000000000000000\nready\n');
      assert.deepEqual(exec, { code: 0, output: '65532\n' });
      assert.deepEqual(outputs, { o: 'mine\n' });
    });

    it('has a root that cannot be written where the pod says so', async () => {
      const { stdout, outputs } = await machine.contain(
        'for d in / /etc /tmp /root; do touch $d/x 2>/dev/null && echo $d; done; echo o > /cnab/app/outputs/o',
        {
          spec: { security: { ...SECURITY, readOnlyRootFilesystem: true } },
        },
      );
      assert.equal(stdout, '');
      assert.deepEqual(outputs, { o: 'o\n' });
    });

    it('does not start without its command, its folder or its interpreter, and says why', async () => {
      const missing = await machine.contain('true', { spec: { command: ['/cnab/app/other'] } });
      assert.match(missing.startError ?? '', /^StartError: .*there is no command \/cnab\/app\/other$/);
      const folderless = await machine.contain('true', { spec: { annotations: {} } });
      assert.match(folderless.startError ?? '', /the pod names no folder of a bundle/);
      const interpreter = await machine.contain('#!/usr/bin/no-such-python\n');
      assert.match(interpreter.startError ?? '', /needs \/usr\/bin\/no-such-python, which this machine lacks$/);
    });

    it("mounts nothing that is not a volume's", async () => {
      const mounts = [{ source: '/etc', kind: 'folder', target: '/host', readOnly: true }] as const;
      const { startError } = await machine.contain('cat /host/shadow', { spec: { mounts } });
      assert.match(startError ?? '', /cannot mount \/etc: it is in no volume of the pod/);
    });

    it('says of a path that cannot be one why', async () => {
      const { startError } = await machine.contain('true', { files: { '/usr/local/etc/app.conf': 'x' } });
      assert.match(
        startError ?? '',
        /cannot mount at \/usr\/local\/etc\/app\.conf: in the sandbox \/usr is this machine's and read-only/,
      );
    });
  });
}
