import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  parseRecord,
  publish,
  readRecord,
  unpublish,
  type ServerRecord,
} from '../../../src/driver/sandbox/server-record.js';

const record = (id: string, version = '1.0.0'): ServerRecord => ({
  version,
  port: 4000,
  token: 't',
  pid: 7,
  id: id.padEnd(16, '0'),
});

describe('the record of a server', () => {
  let folder: string;
  const file = (): string => join(folder, 'server.json');
  const dead = (): Promise<boolean> => Promise.resolve(false);
  const alive = (): Promise<boolean> => Promise.resolve(true);
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'cnab-record-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is private, whole, and all that is left in the folder', async () => {
    assert.equal(await publish(folder, record('a'), dead), 'published');
    assert.equal(statSync(file()).mode & 0o777, 0o600);
    assert.deepEqual(await readRecord(folder), record('a'));
    assert.deepEqual(readdirSync(folder), ['server.json']);
  });

  it('stays with the first of two that live', async () => {
    await publish(folder, record('a'), dead);
    assert.equal(await publish(folder, record('b'), alive), 'taken');
    assert.deepEqual(await readRecord(folder), record('a'));
  });

  it('goes to one of many that start at once', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const outcomes = await Promise.all(ids.map((id) => publish(folder, record(id), alive)));
    assert.deepEqual(outcomes.sort(), ['published', 'taken', 'taken', 'taken', 'taken']);
  });

  it('stays with a server that replaced a dead one while another was still asking the dead one', async () => {
    await publish(folder, record('dead'), dead);
    const asked: string[] = [];
    const outcome = await publish(folder, record('b'), async ({ id }) => {
      asked.push(id);
      if (id !== record('dead').id) return true;
      assert.equal(await publish(folder, record('a'), dead), 'published');
      return false;
    });
    assert.equal(outcome, 'taken');
    assert.deepEqual(asked, [record('dead').id, record('a').id]);
    assert.deepEqual(await readRecord(folder), record('a'));
    assert.deepEqual(readdirSync(folder), ['server.json']);
  });

  it('is replaced when its server does not answer, is of another version, or makes no sense', async () => {
    await publish(folder, record('a'), dead);
    assert.equal(await publish(folder, record('b'), dead), 'published');
    assert.equal(await publish(folder, record('c', '2.0.0'), alive), 'published');
    writeFileSync(file(), '{"version":');
    assert.equal(await publish(folder, record('d'), alive), 'published');
    assert.deepEqual(await readRecord(folder), record('d'));
    assert.deepEqual(readdirSync(folder), ['server.json']);
  });

  it('is taken away by its own server only', async () => {
    await publish(folder, record('a'), dead);
    await unpublish(folder, record('b').id);
    assert.ok(existsSync(file()));
    await unpublish(folder, record('a').id);
    assert.equal(existsSync(file()), false);
  });

  for (const text of [
    '',
    '[]',
    'null',
    '{}',
    '{"version":"1","port":0,"token":"t","pid":1,"id":"0000000000000000"}',
    '{"version":"1","port":1,"token":"t","pid":1,"id":"../../../../etc"}',
    '{"version":"1","port":99999,"token":"t","pid":1,"id":"0000000000000000"}',
  ]) {
    it(`makes no sense as ${JSON.stringify(text)}`, () => assert.equal(parseRecord(text), undefined));
  }
});
