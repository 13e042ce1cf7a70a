import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Assembler } from '../../src/frame/assemble.js';
import { encodeFrames } from '../helpers/encode-frames.js';
import { withFolder } from '../helpers/staging.js';

const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const MIB = 1_048_576;
const LIMITS = { maxOutputBytes: 2 ** 30, maxTotalBytes: 2 ** 30 };
const KILLS = 50;

interface Life {
  readonly killed: boolean;
  /** Milliseconds from its first word to its end. */
  readonly lasted: number;
  /** What it said: a word and a number of bytes. */
  readonly said: readonly (readonly [string, number])[];
}

/** Runs the process, and kills it with SIGKILL `ms` after it is ready. */
function live(program: string, args: readonly string[], ms: number): Promise<Life> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    let begun = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      text += String(chunk);
      timer ??= setTimeout(() => child.kill('SIGKILL'), ms);
      begun ||= performance.now();
    });
    child.once('error', reject);
    child.once('close', (_, signal) => {
      clearTimeout(timer);
      const lines = text.split('\n').slice(0, -1);
      const said = lines.map((line) => line.split(' ')).map(([word = '', bytes]) => [word, Number(bytes)] as const);
      resolve({ killed: signal === 'SIGKILL', lasted: performance.now() - begun, said });
    });
  });
}

describe('Assembling, killed at any moment', function () {
  this.timeout(120_000);

  it(`loses nothing that was on disk, and ends the same: ${KILLS} kills with SIGKILL`, () =>
    withFolder(async (folder) => {
      const program = join(folder, 'assembling-process.mjs');
      const entry = fileURLToPath(new URL('assembling-process.ts', import.meta.url));
      await build({ entryPoints: [entry], outfile: program, bundle: true, platform: 'node', format: 'esm' });
      const raw = randomBytes(3 * MIB + 123);
      const files = [randomBytes(2 * MIB + 5), raw, raw];
      await writeFile(join(folder, 'log'), encodeFrames(files, { runId: RUN }).join('\n') + '\n');
      await writeFile(join(folder, 'file'), raw);
      const staging = join(folder, 'staging');
      let kills = 0;
      let inTheMiddle = 0;
      // How long it takes undisturbed: killed within that time, it is at any step.
      let whole = 60_000;
      for (let round = 0; kills < KILLS; round += 1) {
        await mkdir(staging, { recursive: true });
        let before = 0;
        for (let isDone = false; !isDone;) {
          const ms = round === 0 || kills === KILLS ? 60_000 : Math.random() * whole;
          const args = [staging, join(folder, 'log'), join(folder, 'file')];
          const { killed, lasted, said } = await live(program, args, ms);
          if (round === 0) whole = lasted;
          const open = said.find(([word]) => word === 'open')?.[1];
          if (open !== undefined) assert.ok(open >= before, `${open} bytes are there, ${before} were`);
          const now = Math.max(before, ...said.map(([, bytes]) => bytes));
          if (killed) kills += 1;
          else assert.equal(said.at(-1)?.[0], 'complete');
          if (killed && now > before) inTheMiddle += 1;
          before = now;
          isDone = said.at(-1)?.[0] === 'complete';
        }
        const assembler = await Assembler.open({ runId: RUN, wanted: 3, staging, limits: LIMITS });
        assert.deepEqual([assembler.complete, assembler.missing()], [true, []]);
        const { outputs } = await assembler.finish();
        for (const { index, file } of outputs) assert.ok((await readFile(file)).equals(files[index] as Buffer));
        assert.deepEqual((await readdir(staging)).sort(), ['0', '1', '2', 'manifest']);
        await rm(staging, { recursive: true });
      }
      assert.ok(inTheMiddle > 5, `${inTheMiddle} of ${kills} kills came while blocks were stored`);
    }));
});
