import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { appletFolder, makeFolders, SHELLS, startSidecar, type SidecarOptions } from '../helpers/run-sidecar.js';
import { withFolder } from '../helpers/staging.js';
import { until } from '../helpers/until.js';

/** The words after the run id of each line, without the data. */
function told(log: Buffer): string[] {
  const lines = log.toString('latin1').split('\n').slice(0, -1);
  return lines
    .map((line) => line.split(' ').slice(2, -1).join(' '))
    .filter((line) => !/ (data|block|entry|manifest) /.test(line));
}

const words = (log: Buffer): string[] => told(log).map((line) => line.split(' ').slice(0, 2).join(' '));

for (const shell of SHELLS) {
  const inPod = (run: (root: string, options: SidecarOptions) => Promise<void>): Promise<void> =>
    withFolder(async (root) => {
      await makeFolders(root);
      await run(root, { root, shell, wanted: ['x'], inputs: [{ mode: 0o666, parts: ['input'] }] });
    });

  describe(`The life of the sidecar under ${shell.name}`, () => {
    it('says hello, waits, and makes one pass however often it is told to end', () =>
      inPod(async (root, options) => {
        await writeFile(join(root, 'cnab/app/outputs/x'), Buffer.alloc(300_000));
        const sidecar = await startSidecar(options);
        await sidecar.ready();
        assert.deepEqual(words(sidecar.log()), ['1 hello']);
        for (let n = 0; n < 5; n += 1) sidecar.child.kill('SIGTERM');
        await until('the end', () => sidecar.log().includes(' ended '), 10);
        sidecar.child.kill('SIGTERM');
        const log = await sidecar.stop();
        assert.deepEqual(words(log), ['1 hello', '1 ended', '1 end']);
        assert.equal(await sidecar.ended(), 0);
      }));

    it('scenario 14: sees a signal that comes at any moment after the hook has let the invocation start', () =>
      inPod(async (_, options) => {
        const lags = [0, 1, 2, 3, 5, 8, 13];
        const roots = lags.map((lag) =>
          withFolder(async (root) => {
            await makeFolders(root);
            const sidecar = await startSidecar({ ...options, root });
            await sidecar.ready();
            await delay(lag);
            assert.deepEqual(words(await sidecar.stop()), ['1 hello', '1 ended', '1 end']);
          }),
        );
        await Promise.all(roots);
      }));

    it('scenario 14: writes every line of its pass however slow its log is and however often it is told to end', () =>
      inPod(async (root, options) => {
        const pipe = join(root, 'pipe');
        execFileSync('mkfifo', [pipe]);
        const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
        const filler = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
        const stdout = openSync(pipe, constants.O_WRONLY);
        const sidecar = await startSidecar({ ...options, stdout });
        closeSync(stdout);
        await sidecar.ready();
        assert.throws(() => {
          for (;;) writeSync(filler, '\n'.repeat(4096));
        }, /EAGAIN/);
        closeSync(filler);
        for (let n = 0; n < 30; n += 1) {
          sidecar.child.kill('SIGTERM');
          await delay(5);
        }
        // What it had begun in the background ends while it waits to write.
        await delay(1500);
        let log = '';
        for await (const chunk of new Socket({ fd: reader, readable: true, writable: false })) log += String(chunk);
        assert.deepEqual(words(Buffer.from(log.replace(/\n+/g, '\n'))), ['1 hello', '1 ended', '1 end']);
        assert.match(log, / entry 0 missing .*\n.* manifest 1 /);
      }));

    it('counts its starts, and leaves alone what the invocation may have written to', () =>
      inPod(async (root, options) => {
        const first = await startSidecar(options);
        await first.ready();
        first.child.kill('SIGKILL');
        await first.ended();
        await writeFile(join(root, 'cnab-files/f0'), 'written by the invocation');
        const second = await startSidecar(options);
        await second.ready();
        await until('the second hello', () => second.log().includes('hello'), 10);
        assert.deepEqual(words(await second.stop()), ['2 hello', '2 ended', '2 end']);
        assert.equal(await readFile(join(root, 'cnab-files/f0'), 'utf8'), 'written by the invocation');
      }));

    it('places the inputs again when it was killed in the middle of it', () =>
      inPod(async (root, options) => {
        await writeFile(join(root, 'cnab-files/f0'), 'inp and more');
        const sidecar = await startSidecar(options);
        await sidecar.ready();
        assert.equal(await readFile(join(root, 'cnab-files/f0'), 'utf8'), 'input');
        await sidecar.stop();
      }));

    it('says so when an input cannot be made, and does not end without a word', () =>
      inPod(async (root, options) => {
        await mkdir(join(root, 'cnab-files/f0'));
        const sidecar = await startSidecar(options);
        assert.equal(await sidecar.ended(), 1);
        assert.deepEqual(told(sidecar.log()), ['1 fault input 0']);
      }));

    it('gives up before the invocation starts when a part of an input is missing', () =>
      inPod(async (root, options) => {
        const sidecar = await startSidecar({ ...options, environment: { CNAB_INPUTS: '0666:1 0444:2' } });
        assert.notEqual(await sidecar.ended(), 0);
        assert.deepEqual(told(sidecar.log()), ['1 fault input 1']);
        assert.ok(!existsSync(join(root, 'cnab-files/.cnab/ready')));
      }));
  });
}

describe('The sidecar', () => {
  const [busybox] = SHELLS.filter(({ tools }) => tools);

  it('gives up before the invocation starts when its image lacks a tool, and names it', async function () {
    if (!busybox?.tools) return this.skip();
    for (const tool of ['base64', 'awk', 'sha256sum', 'stat', 'dd']) {
      await withFolder(async (root) => {
        await makeFolders(root);
        const tools = (busybox.tools ?? []).filter((name) => name !== tool);
        // As busybox would find its own applets without $PATH, the shell is another one.
        const shell = { name: 'without a tool', command: ['/bin/sh', '-c'] };
        const sidecar = await startSidecar({ root, shell, wanted: [], path: await appletFolder(root, tools) });
        assert.notEqual(await sidecar.ended(), 0);
        assert.deepEqual(told(sidecar.log()), [`1 fault tool ${tool === 'awk' ? 'base64' : tool}`]);
      });
    }
  });

  it('gives up when its memory volume cannot be written', () =>
    withFolder(async (root) => {
      await makeFolders(root);
      await writeFile(join(root, 'cnab-files/.cnab'), 'in the way');
      const sidecar = await startSidecar({ root, shell: SHELLS[0] ?? assert.fail(), wanted: [] });
      assert.notEqual(await sidecar.ended(), 0);
      assert.deepEqual(told(sidecar.log()), ['1 fault scratch mkdir']);
    }));

  it('gives signs of life while it waits', async () => {
    await Promise.all(
      SHELLS.map((shell) =>
        withFolder(async (root) => {
          await makeFolders(root);
          const sidecar = await startSidecar({ root, shell, wanted: [], environment: { CNAB_BEAT: '1' } });
          await until('a beat', () => words(sidecar.log()).includes('1 beat'), 10);
          await sidecar.stop();
        }),
      ),
    );
  });
});
