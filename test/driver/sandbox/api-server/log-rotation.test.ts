import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../../src/driver/clock.js';
import { ContainerLog, type RotationPolicy } from '../../../../src/driver/sandbox/api-server/container-log.js';
import { readLog } from '../../../../src/driver/sandbox/api-server/log-reader.js';
import { ProcessRuntime, withApiServer } from '../../../helpers/api-server.js';
import { createJob, podWhen, readLog as getLog, rotateLog, stateOf } from '../../../helpers/api-server-jobs.js';

const NEVER: RotationPolicy = { maxBytes: Infinity, everyMs: 10_000, keep: 5 };

/** A log and a client that takes a piece of it only when the test says so. */
class Reading {
  readonly log: ContainerLog;
  readonly #pieces: AsyncGenerator<Buffer>;
  #next: Promise<string> | undefined;

  constructor(folder: string, policy = NEVER) {
    this.log = new ContainerLog(folder, 0, systemClock, policy);
    this.#pieces = readLog(this.log, { follow: true, timestamps: false }, new AbortController().signal);
  }

  write(text: string): void {
    this.log.write('stdout', Buffer.from(`${text}\n`));
  }

  /** What comes next; `end`; or `silence` within 50 ms. */
  async next(): Promise<string> {
    this.#next ??= this.#pieces.next().then(({ value, done }) => (done === true ? 'end' : String(value).trim()));
    const first = await Promise.race([this.#next, sleep(50).then(() => 'silence')]);
    if (first !== 'silence') this.#next = undefined;
    return first;
  }
}

describe('what a rotation does to who follows a log', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'cnab-log-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is nothing for one who waits at the end of the file', async () => {
    const reading = new Reading(folder);
    for (const text of ['one', 'two', 'three']) {
      assert.equal(await reading.next(), 'silence');
      reading.write(text);
      assert.equal(await reading.next(), text);
      assert.equal(await reading.next(), 'silence');
      reading.log.rotate();
    }
    assert.equal(await reading.next(), 'silence');
    reading.log.end();
    assert.equal(await reading.next(), 'end');
  });

  it('is silence, then a lost file, for one who has not reached the end of the first file yet', async () => {
    const reading = new Reading(folder);
    reading.write('one');
    assert.equal(await reading.next(), 'one');
    reading.log.rotate();
    reading.write('lost');
    assert.equal(await reading.next(), 'silence');
    reading.write('lost as well');
    assert.equal(await reading.next(), 'silence');
    reading.log.rotate();
    reading.write('three');
    assert.equal(await reading.next(), 'three');
  });

  it('loses the file in the middle for one who does not take anything over two of them, and brings the last one twice', async () => {
    const reading = new Reading(folder);
    assert.equal(await reading.next(), 'silence');
    reading.write('one');
    assert.equal(await reading.next(), 'one');
    reading.log.rotate();
    reading.write('lost');
    reading.log.rotate();
    reading.write('three');
    assert.deepEqual([await reading.next(), await reading.next()], ['three', 'three']);
    assert.equal(await reading.next(), 'silence');
  });

  it('ends the stream cleanly without the new file when the container ends right after it', async () => {
    const reading = new Reading(folder);
    assert.equal(await reading.next(), 'silence');
    reading.write('one');
    assert.equal(await reading.next(), 'one');
    reading.log.rotate();
    reading.write('two');
    reading.log.end();
    assert.equal(await reading.next(), 'end');
    const again = readLog(reading.log, { follow: false, timestamps: false }, new AbortController().signal);
    assert.equal(String((await again.next()).value), 'two\n', 'one more read brings it');
  });

  it('does not end a stream whose pod is removed while its client is slow', async () => {
    const reading = new Reading(folder);
    assert.equal(await reading.next(), 'silence');
    reading.write('one');
    assert.equal(await reading.next(), 'one');
    reading.log.rotate();
    reading.write('two');
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    assert.equal(await reading.next(), 'silence');
    reading.log.end();
    assert.equal(await reading.next(), 'end');
  });

  it('comes at the next look of the kubelet, as often as there is need, and never after the end', async () => {
    const reading = new Reading(folder, { maxBytes: 100, everyMs: 40, keep: 3 });
    const files = (): number => readdirSync(folder).length;
    reading.write('x'.repeat(10));
    await sleep(60);
    assert.equal(files(), 1);
    for (let turn = 0; turn < 5; turn += 1) {
      reading.write('x'.repeat(200));
      assert.ok(reading.log.size > 200, 'it can be far larger');
      await sleep(60);
      assert.equal(reading.log.size, 0);
    }
    assert.equal(files(), 3);
    reading.write('x'.repeat(200));
    reading.log.end();
    await sleep(60);
    assert.ok(reading.log.size > 200);
  });

  it('leaves nothing of the old file with a runtime that has a limit of its own', async () => {
    const reading = new Reading(folder, { maxBytes: 100, everyMs: 0, keep: 5 });
    assert.equal(await reading.next(), 'silence');
    for (const text of ['a', 'b', 'c']) reading.write(text.repeat(120));
    reading.write('d');
    assert.deepEqual(readdirSync(folder), ['0.log']);
    assert.equal(await reading.next(), 'a'.repeat(120));
    assert.equal(await reading.next(), 'd');
  });
});

describe('the rotation of a log that a container writes', () => {
  const kubelet = { maxLogBytes: 64 * 1024, logCheckMs: 100 };
  // 1.2 MB in 1.2 s, in lines with their numbers.
  const invocation = `i=0; p=$(head -c 1000 /dev/zero | tr '\\0' x); while [ $i -lt 1200 ]; do echo "$i $p"; i=$((i + 1)); [ $((i % 100)) -ne 0 ] || sleep 0.1; done; sleep 0.3`;
  const numbers = (text: string): number[] =>
    text
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[0]));

  it('is lossless for one who follows, and only the newest file is there for one who comes later', async function () {
    this.timeout(60_000);
    await withApiServer({ runtime: new ProcessRuntime(), kubelet }, async (server) => {
      const job = await createJob(server, { invocation });
      const pod = await podWhen(server, job, (now) => stateOf(now, 'invocation').running !== undefined);
      const { text } = await getLog(server, pod, 'invocation', 'follow=true');
      assert.deepEqual(
        numbers(text),
        Array.from({ length: 1200 }, (_, index) => index),
      );
      const late = numbers((await getLog(server, pod, 'invocation')).text);
      assert.ok(late.length < 1200, `${late.length} lines`);
    });
  });

  it('loses what was turned over while nobody was connected', async function () {
    this.timeout(60_000);
    await withApiServer({ runtime: new ProcessRuntime() }, async (server) => {
      const job = await createJob(server, { invocation });
      const pod = await podWhen(server, job, (now) => stateOf(now, 'invocation').running !== undefined);
      server.faults.body({ resource: 'pods/log', times: 1 }, { afterBytes: 100_000, then: 'reset' });
      await assert.rejects(getLog(server, pod, 'invocation', 'follow=true'));
      await sleep(300);
      rotateLog(server, pod, 'invocation');
      const rest = numbers((await getLog(server, pod, 'invocation', 'follow=true')).text);
      assert.equal(rest.at(-1), 1199);
      assert.ok((rest[0] ?? 0) > 100, `it began with ${rest[0]}`);
    });
  });

  it('loses a part for one who reads too slowly, without a word', async function () {
    this.timeout(60_000);
    await withApiServer({ runtime: new ProcessRuntime(), kubelet }, async (server) => {
      const job = await createJob(server, { invocation });
      const pod = await podWhen(server, job, (now) => stateOf(now, 'invocation').running !== undefined);
      server.faults.body({ resource: 'pods/log', times: 1 }, { afterBytes: 300_000, then: 'pause', ms: 1000 });
      const got = new Set(numbers((await getLog(server, pod, 'invocation', 'follow=true')).text));
      assert.ok(got.has(0));
      assert.ok(got.size < 1200);
    });
  });
});
