/** Fills the disk of the folder in its argument with a run's log, then writes a record there. Prints what became of both. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv, stdout } from 'node:process';
import { RunLog } from '../../src/action/run-log.js';

const folder = argv[2] ?? '';
const log = await RunLog.create(join(folder, 'log'), [], () => undefined, new AbortController().signal);
const printed = Buffer.from(Array.from({ length: 2_000 }, (_, line) => `line ${line} ${'x'.repeat(1_000)}\n`).join(''));
for (let at = 0; at < printed.length; at += 65_536) await log.write(printed.subarray(at, at + 65_536));
await writeFile(join(folder, 'record'), Buffer.alloc(100_000));
const { output, complete, warnings } = await log.end();
const kept = await readFile(output.file);
stdout.write(
  JSON.stringify({
    complete,
    warnings,
    isBeginning: kept.length > 0 && printed.subarray(0, kept.length).equals(kept),
    isProven: output.size === kept.length && output.sha256 === createHash('sha256').update(kept).digest('hex'),
  }),
);
