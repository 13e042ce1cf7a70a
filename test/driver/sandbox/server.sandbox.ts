import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { systemClock, type Clock } from '../../../src/driver/clock.js';
import { answers } from '../../../src/driver/sandbox/server-answer.js';
import { serverCommand } from '../../../src/driver/sandbox/server-command.js';
import { runServer } from '../../../src/driver/sandbox/server-process.js';
import { readRecord, type ServerRecord } from '../../../src/driver/sandbox/server-record.js';
import { findOrStartServer } from '../../../src/driver/sandbox/server-start.js';
import { skipWithoutNamespaces } from './namespaces/machine.js';

describe("the sandbox's API server as a process of its own", () => {
  let home: string;
  const never = new AbortController().signal;
  const folder = (): string => join(home, 'sandbox');
  const options = (version = '1.0.0') => ({
    folder: folder(),
    version,
    serverCommand: serverCommand(process.execPath),
  });
  const started = new Set<number>();
  const start = async (version?: string): Promise<ServerRecord> => {
    const record = await findOrStartServer(options(version), never);
    started.add(record.pid);
    return record;
  };
  const gone = async (pid: number): Promise<void> => {
    for (let wait = 0; wait < 500 && existsSync(`/proc/${pid}`); wait += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(existsSync(`/proc/${pid}`), false, `process ${pid} is still there`);
  };
  before(async function () {
    await skipWithoutNamespaces(this, process.getuid?.() ?? -1);
  });
  beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'cnab-home-'))));
  afterEach(async () => {
    for (const pid of started) {
      try {
        process.kill(pid, 'SIGTERM');
      } catch {
        // Gone already.
      }
      await gone(pid);
    }
    started.clear();
    rmSync(home, { recursive: true, force: true });
  });

  it('is found again, keeps its state private, and takes only its token', async () => {
    const record = await start();
    assert.deepEqual(await start(), record);
    assert.equal(statSync(folder()).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder(), 'server.json')).mode & 0o777, 0o600);
    assert.equal(await answers(record), true);
    assert.equal(await answers({ ...record, token: 'another' }), false);
  });

  it('is one, however many ask for it at once', async () => {
    const records = await Promise.all([start(), start(), start()]);
    assert.equal(new Set(records.map(({ pid }) => pid)).size, 1);
  });

  it('is not used by another version, which starts its own', async () => {
    const old = await start('1.0.0');
    const other = await start('2.0.0');
    assert.notEqual(other.pid, old.pid);
    assert.equal(await answers(old), true);
  });

  it('is replaced when it was killed, and the new one removes what it left', async () => {
    const killed = await start();
    process.kill(killed.pid, 'SIGKILL');
    await gone(killed.pid);
    const memory = `/dev/shm/cnab-sandbox-${process.getuid?.() ?? 0}-${killed.id}`;
    assert.ok(existsSync(join(folder(), killed.id)));
    const next = await start();
    assert.notEqual(next.pid, killed.pid);
    for (let wait = 0; wait < 100 && existsSync(join(folder(), killed.id)); wait += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual([existsSync(join(folder(), killed.id)), existsSync(memory)], [false, false]);
  });

  it('goes away without a trace when it is told to', async () => {
    const { pid } = await start();
    process.kill(pid, 'SIGTERM');
    await gone(pid);
    assert.deepEqual(readdirSync(folder()), []);
  });

  /** A server in this process, whose time runs a hundred times as fast. */
  const serve = (onReady: (said: string) => void): Promise<void> => {
    const begin = Date.now();
    const clock: Clock = {
      now: () => begin + (Date.now() - begin) * 100,
      sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
    };
    const uid = process.getuid?.() ?? 0;
    return runServer({ folder: folder(), version: '1', uid, pid: process.pid, clock, signal: never, onReady });
  };

  it('ends by itself when nobody wants anything of it', async () => {
    const outcomes: string[] = [];
    await serve((said) => outcomes.push(said));
    assert.deepEqual(outcomes, ['published']);
    assert.deepEqual(readdirSync(folder()), []);
  });

  it('ends when the home is removed, whatever Jobs are left in it', async () => {
    let end = Promise.resolve();
    await new Promise<void>((ready) => {
      end = serve(() => ready());
    });
    const { port, token, id } = (await readRecord(folder())) ?? assert.fail('no record');
    const container = { name: 'a', image: 'b' };
    const { status } = await fetch(`http://127.0.0.1:${port}/apis/batch/v1/namespaces/default/jobs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        metadata: { name: 'left' },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } },
      }),
    });
    assert.equal(status, 201);
    rmSync(folder(), { recursive: true });
    await end;
    assert.equal(existsSync(`/dev/shm/cnab-sandbox-${process.getuid?.() ?? 0}-${id}`), false);
  });

  it('outlives the process that started it, which leaves no descriptor in it', async () => {
    const script = `
      import { findOrStartServer } from ${JSON.stringify(new URL('../../../src/driver/sandbox/server-start.ts', import.meta.url).href)};
      const record = await findOrStartServer(${JSON.stringify(options())}, new AbortController().signal);
      console.log(record.pid);
      process.kill(process.pid, 'SIGKILL');`;
    const [, , loader = ''] = serverCommand(process.execPath);
    const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit', 'ignore', 'ignore', 'pipe'],
    });
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await new Promise((resolve) => child.on('close', resolve));
    const pid = Number(text);
    started.add(pid);
    assert.ok(existsSync(`/proc/${pid}`));
    assert.equal((await start()).pid, pid);
  });

  it('says why it cannot start, in one sentence', async () => {
    writeFileSync(join(home, 'file'), '');
    await assert.rejects(
      findOrStartServer({ ...options(), folder: join(home, 'file', 'sandbox') }, never),
      /the sandbox's API server did not start: ENOTDIR/,
    );
    mkdirSync(folder());
    await assert.rejects(
      findOrStartServer({ ...options(), serverCommand: ['/nowhere/node'] }, never),
      /did not start: spawn \/nowhere\/node ENOENT/,
    );
    await assert.rejects(
      findOrStartServer({ ...options(), serverCommand: ['/bin/false'] }, never),
      /did not start: it ended without a word/,
    );
  });
});
