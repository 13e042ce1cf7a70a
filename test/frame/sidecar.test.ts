import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { Assembler, type Assembly } from '../../src/frame/assemble.js';
import { encodeFrames, type Wanted } from '../helpers/encode-frames.js';
import { ABSENT_SHELLS, RUN, SHELLS, makeFolders, startSidecar, type SidecarOptions } from '../helpers/run-sidecar.js';
import { withFolder } from '../helpers/staging.js';

const MIB = 1_048_576;
const LIMITS = { maxOutputBytes: 64 * MIB, maxTotalBytes: 64 * MIB };

/** Runs the script over what `write` leaves in the outputs' folder, and reads its log. */
async function pass(
  options: Omit<SidecarOptions, 'root'>,
  write: (outputs: string) => Promise<void>,
  check: (assembly: Assembly, log: Buffer) => Promise<void> | void,
): Promise<void> {
  await withFolder(async (root) => {
    const outputs = await makeFolders(root);
    const sidecar = await startSidecar({ limits: LIMITS, ...options, root });
    await sidecar.ready();
    await write(outputs);
    const log = await sidecar.stop();
    const staging = join(root, 'staging');
    await mkdir(staging);
    const assembler = new Assembler({ runId: RUN, wanted: options.wanted.length, staging, limits: LIMITS });
    await assembler.accept(log);
    assert.deepEqual([assembler.mainEnded, assembler.complete], [true, true]);
    await check(await assembler.finish(), log);
  });
}

async function put(outputs: string, path: string, content: Uint8Array | string): Promise<void> {
  await mkdir(dirname(join(outputs, path)), { recursive: true });
  await writeFile(join(outputs, path), content);
}

async function assertOutputs({ outputs, problems }: Assembly, contents: readonly Wanted[]): Promise<void> {
  assert.deepEqual(problems, []);
  assert.equal(outputs.length, contents.length);
  for (const { index, file } of outputs)
    assert.ok((await readFile(file)).equals(contents[index] as Buffer), `output ${index}`);
}

const kinds = ({ problems }: Assembly): string[] => problems.map(({ kind, reason }) => `${kind}: ${reason}`);
const nothing = (): Promise<void> => Promise.resolve();

for (const { name } of ABSENT_SHELLS)
  it.skip(`The sidecar's script under ${name}: not on this machine, or without the tools it needs`);

for (const shell of SHELLS) {
  describe(`The sidecar's script under ${shell.name}`, () => {
    it('carries files of every size and content, in nested folders too', async () => {
      const contents = [
        Buffer.alloc(0),
        Buffer.from('1'),
        randomBytes(MIB),
        randomBytes(2 * MIB + 1),
        Buffer.from([0, 1, 255, 254, 10, 13, 10]),
        randomBytes(12_096),
      ];
      const wanted = ['empty', 'one', 'a/random', 'a/b/c/big', 'binary', 'line'];
      await pass(
        { shell, wanted },
        async (outputs) => {
          for (const [index, path] of wanted.entries()) await put(outputs, path, contents[index] ?? '');
        },
        async (assembly, log) => {
          await assertOutputs(assembly, contents);
          assert.equal(assembly.noise, 0);
          assert.deepEqual(log.toString('latin1').split('\n').slice(0, -1), encodeFrames(contents, { runId: RUN }));
        },
      );
    });

    it('finds files by names that a shell could take for something else', async () => {
      const wanted = [
        'new\nline',
        '\nfirst',
        'last\n',
        ' blank ',
        '-n',
        '--help',
        "it's",
        '"quoted"',
        '$(touch pwned)',
        '`id`',
        '$HOME',
        '$$',
        '*',
        '[a-z]',
        'back\\slash',
        '\\n',
        'größe-日本-😀',
        '\u0001\u001b[31m',
        'a=b',
        '%s%n',
        '~',
        'x'.repeat(255),
        '-d/-f/-e',
        '!',
        '; exit 1',
        'tab\t',
        '\r',
      ];
      const contents = wanted.map((path) => Buffer.from(`content of ${path}`));
      await pass(
        { shell, wanted: wanted.map((path) => `/cnab/app/outputs/${path}`) },
        async (outputs) => {
          for (const [index, path] of wanted.entries()) await put(outputs, path, contents[index] ?? '');
        },
        async (assembly, log) => {
          await assertOutputs(assembly, contents);
          assert.match(log.toString('latin1'), /^[ -~\n]*$/, 'nothing but printable ASCII');
        },
      );
    });

    it('opens nothing that is no regular file, and follows no symbolic link', async () => {
      const wanted = [
        'link',
        'folder/secret',
        'self',
        'dangling',
        'fifo',
        'directory',
        'socket',
        'none',
        'file/below',
        'none/below',
      ];
      await pass(
        { shell, wanted },
        async (outputs) => {
          const secrets = join(outputs, '../secrets');
          await mkdir(secrets);
          await writeFile(join(secrets, 'secret'), 'SECRET');
          await writeFile(join(outputs, 'file'), 'x');
          await symlink('../secrets/secret', join(outputs, 'link'));
          await symlink('../secrets', join(outputs, 'folder'));
          await symlink('self', join(outputs, 'self'));
          await symlink('nowhere', join(outputs, 'dangling'));
          await mkdir(join(outputs, 'directory'));
          assert.equal(spawnSync('mkfifo', [join(outputs, 'fifo')]).status, 0);
          await listenOnce(join(outputs, 'socket'));
        },
        (assembly) =>
          assert.deepEqual(kinds(assembly), [
            'not-regular: is a symbolic link',
            'not-regular: lies below a symbolic link',
            'not-regular: is a symbolic link',
            'not-regular: is a symbolic link',
            'not-regular: is a FIFO',
            'not-regular: is a directory',
            'not-regular: is a socket',
            'missing: was not written',
            'missing: was not written',
            'missing: was not written',
          ]),
      );
    });

    it('refuses by its size a sparse file of 1 TiB, a file over the limit and what is over the total', async () => {
      const limits = { maxOutputBytes: 1000, maxTotalBytes: 1500 };
      await pass(
        { shell, wanted: ['sparse', 'large', 'a', 'b', 'c'], limits },
        async (outputs) => {
          await put(outputs, 'sparse', '');
          await truncate(join(outputs, 'sparse'), 2 ** 40);
          for (const [name, size] of [
            ['large', 1001],
            ['a', 1000],
            ['b', 501],
            ['c', 500],
          ] as const)
            await put(outputs, name, Buffer.alloc(size));
        },
        (assembly) => {
          assert.deepEqual(
            assembly.outputs.map(({ index }) => index),
            [2, 4],
          );
          assert.deepEqual(
            assembly.problems.map(({ index, kind }) => `${index} ${kind}`),
            ['0 too-large', '1 too-large', '3 too-large'],
          );
        },
      );
    });

    it('takes frames in a file and in a name for what they are: content, and a name', () => {
      const forged = encodeFrames(['missing', 'missing', Buffer.from('forged')], { runId: RUN }).join('\n');
      const wanted = ['lines', `x\n${forged.slice(0, 120)}\n`, 'none'];
      return pass(
        { shell, wanted },
        async (outputs) => {
          for (const path of wanted.slice(0, 2)) await put(outputs, path, `\n${forged}\n`);
        },
        async ({ outputs, problems, noise }) => {
          assert.deepEqual([outputs.length, problems.map(({ kind }) => kind), noise], [2, ['missing'], 0]);
          for (const { file } of outputs) assert.equal(await readFile(file, 'utf8'), `\n${forged}\n`);
        },
      );
    });

    it('sends nothing that was not asked for, and does not even look at it: 1,000 other files cost nothing', () =>
      pass(
        { shell, wanted: ['wanted'] },
        async (outputs) => {
          await put(outputs, 'wanted', 'yes');
          await put(outputs, 'other', 'SECRET');
          const touch = 'seq 1000 | xargs touch --';
          assert.equal(spawnSync('/bin/sh', ['-c', touch], { cwd: outputs }).status, 0);
        },
        (assembly, log) => {
          assert.equal(assembly.outputs.length, 1);
          assert.ok(!log.includes(Buffer.from('SECRET').toString('base64').slice(0, 7)));
        },
      ));

    it('ends right after its pass when nothing is wanted, or nothing was written', async () => {
      await pass({ shell, wanted: [] }, nothing, (assembly) => assert.deepEqual(kinds(assembly), []));
      await pass({ shell, wanted: ['x'] }, nothing, (assembly) =>
        assert.deepEqual(kinds(assembly), ['missing: was not written']),
      );
    });

    it('puts the inputs in place, of several parts, with their modes, before the invocation may start', () =>
      withFolder(async (root) => {
        await makeFolders(root);
        const parts = Array.from({ length: 12 }, (_, part) => `part ${part}\n`);
        const inputs = [
          { mode: 0o444, parts: ['{"name":"x"}'] },
          { mode: 0o666, parts },
          { mode: 0o600, parts: [''] },
        ];
        const sidecar = await startSidecar({ root, shell, wanted: [], inputs });
        await sidecar.ready();
        const files = ['f0', 'f1', 'f2'].map((name) => join(root, 'cnab-files', name));
        assert.deepEqual(await Promise.all(files.map((file) => readFile(file, 'utf8'))), [
          '{"name":"x"}',
          parts.join(''),
          '',
        ]);
        assert.deepEqual(
          await Promise.all(files.map(async (file) => (await stat(file)).mode & 0o777)),
          [0o444, 0o666, 0o600],
        );
        await sidecar.stop();
      }));
  });
}

function listenOnce(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.unref().once('error', reject).listen(path, resolve);
  });
}
