/**
 * A process that writes to a claim store, for tests that need a real one: `writer.ts HOME MODE [ARGS…]`.
 * Modes: `claim` saves one and reports the error as JSON; `fill` writes until the disk is full; `many` writes until it is
 * killed and says what was acknowledged, one line each; `lock` takes the lock and reports; `hold` keeps it until killed.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/driver/clock.js';
import { CnabError } from '../../src/errors.js';
import { claim, result, storeIn, TARGET, USE } from './samples.js';

const [home = '', mode = '', installation = 'app'] = process.argv.slice(2);
if (process.env['WRITER_UID'] !== undefined) process.setuid?.(Number(process.env['WRITER_UID']));
const claims = storeIn(home, Date.now, (ms) => systemClock.sleep(ms)).on(TARGET);
const say = (line: string) => new Promise<void>((done) => process.stdout.write(`${line}\n`, () => done()));

function reportOf(error: unknown): object {
  if (error instanceof CnabError) return { code: error.code, message: error.message, suggestions: error.suggestions };
  return { code: 'bug', message: String(error) };
}

async function one(): Promise<string> {
  const id = await claims.nextId(installation);
  await claims.saveClaim(claim(id, 'upgrade', { installation, custom: 'x'.repeat(4000) }));
  return id;
}

async function fill(): Promise<void> {
  let error: unknown;
  try {
    for (;;) await one();
  } catch (thrown) {
    error = thrown;
  }
  const count = async () => (await claims.read(installation))?.records.length ?? 0;
  const before = await count();
  const store = await claims.list();
  const id = (await claims.read(installation))?.records[0]?.claim.id ?? '';
  await rm(join(home, 'targets/sandbox/claims', installation, `${id}.json`));
  const again = await one().then(
    () => true,
    () => false,
  );
  await say(JSON.stringify({ ...reportOf(error), before, after: await count(), again, damaged: store.damaged.length }));
}

async function many(): Promise<void> {
  for (let count = 0; ; count += 1) {
    const id = await one();
    await say(`claim ${id}`);
    const run = await claims.openRun(id, USE);
    const file = join(run.staging, '0');
    await writeFile(file, `output of ${id}`);
    const resultId = await claims.nextId(installation);
    await claims.saveResult(installation, result(resultId, id, 'succeeded', { outputs: { out: {} } }), [
      { name: 'out', file },
    ]);
    await say(`result ${resultId} ${id}`);
    await run.remove();
  }
}

async function lock(): Promise<void> {
  try {
    const held = await claims.lock(installation, 'test');
    await say(JSON.stringify({ got: true, pid: process.pid }));
    if (mode === 'hold') await new Promise((resolve) => setTimeout(resolve, 60_000));
    await held.release();
  } catch (error) {
    await say(JSON.stringify({ got: false, ...reportOf(error) }));
  }
}

/** Adds one to a number in a file, `rounds` times, each time under the lock: lost updates show. */
async function count(rounds: number): Promise<void> {
  const file = join(home, 'counter');
  for (let done = 0; done < rounds;) {
    try {
      const held = await claims.lock(installation, 'count');
      const before = Number(await readFile(file, 'utf8'));
      await new Promise((resolve) => setTimeout(resolve, 1));
      await writeFile(file, String(before + 1));
      done += 1;
      await held.release();
    } catch (error) {
      if (!(error instanceof CnabError && error.code === 'busy')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}

/** Takes and releases the lock until it is killed. */
async function spin(): Promise<void> {
  await say('spinning');
  for (;;) {
    const held = await claims.lock(installation, 'spin').catch(() => undefined);
    await held?.release();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

switch (mode) {
  case 'claim':
    await say(JSON.stringify(await one().then((id) => ({ id }), reportOf)));
    break;
  case 'fill':
    await fill();
    break;
  case 'many':
    await many();
    break;
  case 'lock':
  case 'hold':
    await lock();
    break;
  case 'spin':
    await spin();
    break;
  case 'count':
    await count(Number(process.argv[5]));
    break;
  default:
    throw new Error(`no mode ${mode}`);
}
