// A process that assembles, for kill.test.ts: assembling-process STAGING LOG FILE. Says what is on disk when it begins (`open`),
// after each step (`at`) and at the end (`complete`). File 0 comes by the log, file 1 as raw ranges, file 2 by both at once.
import { readFileSync, writeSync } from 'node:fs';
import { Assembler } from '../../src/frame/assemble.js';

const [, , staging = '', log = '', file = ''] = process.argv;
const RUN = '01J9ZZZZZZZZZZZZZZZZZZZZZZ';
const limits = { maxOutputBytes: 2 ** 30, maxTotalBytes: 2 ** 30 };
const say = (word: string, bytes: number): number => writeSync(1, `${word} ${bytes}\n`);

async function byLog(assembler: Assembler): Promise<void> {
  const bytes = readFileSync(log);
  for (let at = 0; at < bytes.length && !assembler.complete; at += 200_000) {
    await assembler.accept(bytes.subarray(at, at + 200_000));
    say('at', assembler.receivedBytes);
  }
}

async function byExec(assembler: Assembler): Promise<void> {
  const bytes = readFileSync(file);
  const ranges = assembler.missing().filter(({ index }) => index > 0);
  const intake = assembler.intake(...ranges);
  for (const { offset, length } of ranges) {
    for (let at = 0; at < length; at += 300_000) {
      await intake.write(bytes.subarray(offset + at, offset + Math.min(at + 300_000, length)));
      say('at', assembler.receivedBytes);
    }
  }
}

async function assemble(): Promise<void> {
  say('ready', 0);
  const assembler = await Assembler.open({ runId: RUN, wanted: 3, staging, limits });
  say('open', assembler.receivedBytes);
  const logged = byLog(assembler);
  while (!assembler.manifest) await new Promise(setImmediate);
  await Promise.all([logged, byExec(assembler)]);
  say(assembler.complete ? 'complete' : 'incomplete', assembler.receivedBytes);
}

void assemble();
