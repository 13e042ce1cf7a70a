import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { systemClock, type Clock } from '../../../src/driver/clock.js';
import { answers } from '../../../src/driver/sandbox/server-answer.js';
import { serverCommand } from '../../../src/driver/sandbox/server-command.js';
import { runServer } from '../../../src/driver/sandbox/server-process.js';
import { readRecord, type ServerRecord } from '../../../src/driver/sandbox/server-record.js';
import { findOrStartServer } from '../../../src/driver/sandbox/server-start.js';
import { warpClock } from '../../helpers/warp-clock.js';
import { BUNDLE_FOLDER_ANNOTATION } from '../../../src/driver/sandbox/namespaces/bundle-folder.js';
import { skipWithoutNamespaces } from './namespaces/machine.js';
import { makeBundle } from './operation.js';

describe("the sandbox's API server as a process of its own", () => {
  let home: string;
  const never = new AbortController().signal;
  const folder = (): string => join(home, 'sandbox');
  const options = (version = '1.0.0') => ({
    folder: folder(),
    version,
    serverCommand: serverCommand(process.execPath),
    clock: systemClock,
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

  /** A server in this process, whose time runs as fast as the test says. */
  const serve = (clock: Clock, onReady: (said: string) => void): Promise<void> => {
    const uid = process.getuid?.() ?? 0;
    return runServer({ folder: folder(), version: '1', uid, pid: process.pid, clock, signal: never, onReady });
  };

  it('ends by itself when nobody wants anything of it', async () => {
    const outcomes: string[] = [];
    await serve(warpClock(100), (said) => outcomes.push(said));
    assert.deepEqual(outcomes, ['published']);
    assert.deepEqual(readdirSync(folder()), []);
  });

  /** A server with a Job whose pod runs this shell text, and its end. */
  async function withJob(script: string, ttlSecondsAfterFinished: number) {
    let end = Promise.resolve();
    const clock = warpClock(1);
    await new Promise<void>((ready) => {
      end = serve(clock, () => ready());
    });
    const record = (await readRecord(folder())) ?? assert.fail('no record');
    const ask = (method: string, path: string, body?: object): Promise<Response> =>
      fetch(`http://127.0.0.1:${record.port}${path}`, {
        method,
        headers: { authorization: `Bearer ${record.token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const annotations = { [BUNDLE_FOLDER_ANNOTATION]: makeBundle(home, script) };
    const spec = { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b', command: ['/cnab/app/run'] }] };
    const template = { metadata: { annotations }, spec };
    const job = { metadata: { name: 'left' }, spec: { ttlSecondsAfterFinished, template } };
    assert.equal((await ask('POST', '/apis/batch/v1/namespaces/default/jobs', job)).status, 201);
    clock.speed = 100;
    return { record, ask, end };
  }

  it('ends when the home is removed, whatever Jobs are left in it', async () => {
    const { record, end } = await withJob('echo left', 86_400);
    rmSync(folder(), { recursive: true });
    await end;
    assert.equal(existsSync(`/dev/shm/cnab-sandbox-${process.getuid?.() ?? 0}-${record.id}`), false);
  });

  it('stays for a Job that is complete and was not deleted, with the log of its pod, until its time is over', async () => {
    const { record, ask, end } = await withJob('echo outputs', 200);
    let over = false;
    void end.then(() => (over = true));
    interface Pods {
      readonly items: readonly {
        readonly metadata: { readonly name: string };
        readonly status: { readonly phase: string };
      }[];
    }
    const pods = '/api/v1/namespaces/default/pods';
    const pod = async () => ((await (await ask('GET', pods)).json()) as Pods).items[0];
    while ((await pod())?.status.phase !== 'Succeeded') await new Promise((resolve) => setTimeout(resolve, 20));
    const name = (await pod())?.metadata.name;
    // A hundred seconds of the server's.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    assert.deepEqual([over, await answers(record)], [false, true]);
    assert.equal(await (await ask('GET', `${pods}/${name}/log`)).text(), 'outputs\n');
    await end;
    assert.deepEqual(readdirSync(folder()), []);
  });

  it('outlives the process that started it, which leaves no descriptor in it', async () => {
    const script = `
      import { findOrStartServer } from ${JSON.stringify(new URL('../../../src/driver/sandbox/server-start.ts', import.meta.url).href)};
      const clock = { now: () => Date.now(), sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) };
      const options = { ...${JSON.stringify(options())}, clock };
      console.log((await findOrStartServer(options, new AbortController().signal)).pid);
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

  it('does not hear the signals that end the group and the session of the process that started it', async () => {
    const script = `
      import { findOrStartServer } from ${JSON.stringify(new URL('../../../src/driver/sandbox/server-start.ts', import.meta.url).href)};
      const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const clock = { now: () => Date.now(), sleep };
      const options = { ...${JSON.stringify(options())}, clock };
      console.log((await findOrStartServer(options, new AbortController().signal)).pid);
      await sleep(60_000);`;
    const [, , loader = ''] = serverCommand(process.execPath);
    const child = spawn(process.execPath, ['--import', loader, '--input-type=module', '--eval', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = await new Promise<number>((resolve) => child.stdout.on('data', (text) => resolve(Number(text))));
    started.add(pid);
    const ended = new Promise((resolve) => child.on('close', resolve));
    for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM', 'SIGKILL'] as const) {
      // The first of them ends the group.
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), signal);
    }
    await ended;
    process.kill(pid, 'SIGHUP');
    const [, , group, session] = statOf(pid);
    assert.deepEqual([Number(group), Number(session)], [pid, pid], 'a session of its own');
    assert.equal((await start()).pid, pid);
  });

  it('is waited for when it is slow, because one that is replaced takes its runs out of reach', async () => {
    const { pid } = await start();
    process.kill(pid, 'SIGSTOP');
    const again = start();
    setTimeout(() => process.kill(pid, 'SIGCONT'), 3_000);
    assert.equal((await again).pid, pid);
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

/** Fields of /proc/<pid>/stat after the name: state, parent, group, session. */
function statOf(pid: number): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
