import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Assembler, type Assembly } from '../../src/frame/assemble.js';
import { RUN, SHELLS, makeFolders, startSidecar, type SidecarOptions } from '../helpers/run-sidecar.js';
import { withFolder } from '../helpers/staging.js';
import { until } from '../helpers/until.js';

const LIMITS = { maxOutputBytes: 2 ** 30, maxTotalBytes: 2 ** 30 };
const isRoot = process.getuid?.() === 0;
/** As the tests' user if that is not root; else as nobody. */
const NOBODY = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all'] : [];
/** The rights of a sidecar whose capabilities were all dropped. */
const BARE_ROOT = ['setpriv', '--inh-caps=-all', '--bounding-set=-all'];

async function read(root: string, wanted: number, log: Buffer): Promise<Assembly> {
  await mkdir(join(root, 'staging'));
  const assembler = new Assembler({ runId: RUN, wanted, staging: join(root, 'staging'), limits: LIMITS });
  await assembler.accept(log);
  assert.match(log.toString('latin1'), / 1 end [0-9a-f]{64} \.\n$/);
  return assembler.finish();
}

async function pass(
  options: Omit<SidecarOptions, 'root'>,
  write: (outputs: string) => Promise<void>,
): Promise<string[]> {
  return withFolder(async (root) => {
    const outputs = await makeFolders(root);
    for (const folder of [root, join(root, 'cnab-files')]) await chmod(folder, 0o777);
    await write(outputs);
    const sidecar = await startSidecar({ ...options, root, path: '/usr/bin:/bin' });
    await sidecar.ready();
    const { outputs: whole, problems } = await read(root, options.wanted.length, await sidecar.stop());
    return [
      ...whole.map(({ index }) => `${index} whole`),
      ...problems.map(({ index, kind }) => `${index} ${kind}`),
    ].sort();
  });
}

for (const shell of SHELLS) {
  describe(`The sidecar's rights under ${shell.name}`, () => {
    it('suffice to say of a file or folder that it cannot be read, and to go on', async () => {
      const found = await pass(
        { shell, wanted: ['open', 'closed', 'folder/below', 'folder/none'], before: NOBODY },
        async (outputs) => {
          await writeFile(join(outputs, 'open'), 'x');
          await writeFile(join(outputs, 'closed'), 'x', { mode: 0o000 });
          await mkdir(join(outputs, 'folder'));
          await writeFile(join(outputs, 'folder/below'), 'x');
          await chmod(join(outputs, 'folder'), 0o000);
        },
      );
      assert.deepEqual(found, ['0 whole', '1 unreadable', '2 unreadable', '3 unreadable']);
    });

    it('suffice to place a read-only input again when it was killed in the middle of it', async () => {
      const inputs = [{ mode: 0o444, parts: ['input'] }];
      await pass({ shell, wanted: [], inputs, before: NOBODY }, async (outputs) => {
        const files = join(outputs, '../../../cnab-files');
        await writeFile(join(files, 'f0'), 'inp', { mode: 0o444 });
        if (isRoot) await chown(join(files, 'f0'), 65534, 65534);
      });
    });

    it('are those of root without capabilities, too: a 0600 file of another is reported, not taken for missing', async function () {
      if (!isRoot) return this.skip();
      const found = await pass(
        { shell, wanted: ['open', 'closed', 'folder/below'], before: BARE_ROOT },
        async (outputs) => {
          await writeFile(join(outputs, 'open'), 'x', { mode: 0o644 });
          await mkdir(join(outputs, 'folder'));
          await writeFile(join(outputs, 'closed'), 'x', { mode: 0o600 });
          await writeFile(join(outputs, 'folder/below'), 'x');
          await chmod(join(outputs, 'folder'), 0o700);
          for (const path of ['open', 'closed', 'folder/below', 'folder']) await chown(join(outputs, path), 1000, 1000);
        },
      );
      assert.deepEqual(found, ['0 whole', '1 unreadable', '2 unreadable']);
    });

    it('do not make it open a device', async function () {
      if (!isRoot) return this.skip();
      const found = await pass({ shell, wanted: ['zero', 'disk'] }, (outputs) => {
        spawnSync('mknod', [join(outputs, 'zero'), 'c', '1', '5']);
        spawnSync('mknod', [join(outputs, 'disk'), 'b', '7', '0']);
        return Promise.resolve();
      });
      // A kernel without the right to make devices leaves nothing there.
      for (const line of found) assert.match(line, /not-regular|missing/);
    });

    it('calls a file that grows while it is read changed, and delivers the others', () =>
      withFolder(async (root) => {
        const outputs = await makeFolders(root);
        await writeFile(join(outputs, 'growing'), Buffer.alloc(3_000_000, 1));
        await writeFile(join(outputs, 'still'), 'x');
        const sidecar = await startSidecar({ root, shell, wanted: ['growing', 'still'] });
        await sidecar.ready();
        const writer = spawn('/bin/sh', [
          '-c',
          'while echo more; do sleep 0.001; done >> "$0"',
          join(outputs, 'growing'),
        ]);
        const gone = new Promise((resolve) => writer.once('close', resolve));
        let log: Buffer;
        try {
          const before = sidecar.log().length;
          sidecar.child.kill('SIGTERM');
          await until('more of the log', () => sidecar.log().length > before, 10);
          log = await sidecar.stop();
        } finally {
          writer.kill('SIGKILL');
          await gone;
        }
        const { outputs: whole, problems } = await read(root, 2, log);
        assert.deepEqual(
          whole.map(({ index }) => index),
          [1],
        );
        assert.deepEqual(problems, [{ index: 0, kind: 'changed', reason: 'changed while it was read' }]);
      }));
  });
}
