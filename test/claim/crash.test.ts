import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { factsOf } from '../../src/claim/owner.js';
import { startWriter } from './processes.js';
import { removeFolder, storeIn, TARGET, tempFolder } from './samples.js';

const GONE = 0x7ffffff0;

describe('a claim store whose writers are killed or race', () => {
  let home: string;
  const claims = () => storeIn(home, Date.now).on(TARGET);

  beforeEach(async () => {
    home = await tempFolder();
  });
  afterEach(() => removeFolder(home));

  it('has every record that was acknowledged, whole, after SIGKILL at any moment', async () => {
    let acknowledged = 0;
    for (let round = 0; round < 3; round += 1) {
      const writer = startWriter(home, 'many');
      await writer.line();
      await delay(Math.random() * 60);
      await writer.kill();

      const { installations, damaged } = await claims().list();
      assert.deepEqual(damaged, []);
      const records = installations[0]?.records ?? [];
      for (const line of writer.lines) {
        const [what, id = '', claimId = id] = line.split(' ');
        const record = records.find(({ claim }) => claim.id === claimId);
        assert.equal(record?.claim.custom, 'x'.repeat(4000), line);
        if (what !== 'result') continue;
        assert.ok(
          record?.results.some((result) => result.id === id),
          line,
        );
        const output = await claims().output(id, 'out');
        assert.equal(await readFile(output?.file ?? '', 'utf8'), `output of ${claimId}`);
      }
      acknowledged += writer.lines.length;
      // A result is written last, so one that is there has its output, acknowledged or not.
      for (const result of records.flatMap(({ results }) => results)) {
        assert.notEqual(await claims().output(result.id, 'out'), undefined);
      }
    }
    assert.ok(acknowledged >= 3);
    await (await claims().lock('app', 'test')).release();
    assert.notEqual(await claims().read('app'), undefined);
  });

  it('keeps all records of several processes that write to one target at once', async () => {
    const names = ['a', 'b', 'c'];
    const writers = names.map((name) => startWriter(home, 'many', name));
    await Promise.all(writers.map((writer) => writer.line()));
    await delay(150);
    await Promise.all(writers.map((writer) => writer.kill()));
    const { installations, damaged } = await claims().list();
    assert.deepEqual(damaged, []);
    for (const [at, writer] of writers.entries()) {
      const records = installations.find(({ name }) => name === names[at])?.records ?? [];
      const saved = writer.lines.filter((line) => line.startsWith('claim')).length;
      assert.ok(records.length >= saved && records.length <= saved + 1, `${records.length} of ${saved}`);
    }
  });

  it("gives a dead owner's lock to exactly one of several processes that want it", async () => {
    const file = join(home, 'locks/sandbox/app.json');
    await mkdir(dirname(file), { recursive: true });
    const facts = await factsOf({ pid: process.pid, isAlive: () => true });
    const dead = { token: 'd'.repeat(32), ...facts, pid: GONE, purpose: 'upgrade', since: '2026-01-01T00:00:00Z' };
    await writeFile(file, JSON.stringify(dead));
    const takers = Array.from({ length: 4 }, () => startWriter(home, 'hold'));
    const answers = await Promise.all(takers.map(async (taker) => JSON.parse((await taker.line()) ?? '{}') as Answer));
    const [winner, ...others] = answers.filter(({ got }) => got);
    assert.deepEqual(others, []);
    for (const answer of answers.filter(({ got }) => !got)) {
      assert.equal(answer.code, 'busy');
      assert.match(answer.message ?? '', new RegExp(`test by process ${winner?.pid} on`));
    }
    await Promise.all(takers.map((taker) => taker.kill()));
    await (await claims().lock('app', 'test')).release();
    assert.deepEqual(await readdir(dirname(file)), []);
  });

  it('lets one at a time in, also when a holder is killed', async () => {
    await writeFile(join(home, 'counter'), '0');
    await (await claims().lock('app', 'make the home')).release();
    const counters = Array.from({ length: 2 }, () => startWriter(home, 'count', 'app', '25'));
    const victim = startWriter(home, 'spin');
    await victim.line();
    await delay(Math.random() * 20);
    await victim.kill();
    assert.deepEqual(await Promise.all(counters.map((counter) => counter.ended())), [0, 0]);
    assert.equal(await readFile(join(home, 'counter'), 'utf8'), '50');
  });
});

interface Answer {
  readonly got?: boolean;
  readonly pid?: number;
  readonly code?: string;
  readonly message?: string;
}
