import assert from 'node:assert/strict';
import { ulidAfter } from '../../src/claim/ulid.js';
import { parseUlid } from './parse-ulid.js';
import { claim, NOW, removeFolder, result, storeIn, TARGET, tempFolder } from './samples.js';

describe('the next id of an installation', () => {
  let home: string;
  let now = NOW;
  const fresh = () => storeIn(home, () => now).on(TARGET);

  beforeEach(async () => {
    now = NOW;
    home = await tempFolder();
  });
  afterEach(() => removeFolder(home));

  it('rises within a millisecond, also for calls at once', async () => {
    const claims = fresh();
    const ids: string[] = [];
    for (let count = 0; count < 50; count += 1) ids.push(await claims.nextId('app'));
    assert.deepEqual(ids, [...ids].sort());
    const atOnce = await Promise.all(Array.from({ length: 50 }, () => claims.nextId('app')));
    assert.equal(new Set([...ids, ...atOnce]).size, 100);
    assert.ok(atOnce.every((id) => id > (ids.at(-1) ?? '')));
    const same = storeIn(home, () => now);
    assert.ok((await same.on(TARGET).nextId('app')) < (await same.on(TARGET).nextId('app')));
    assert.equal(parseUlid(ids[0] ?? '')?.time, NOW);
  });

  it('rises when the clock steps back, within a process and across processes', async () => {
    const claims = fresh();
    const first = await claims.nextId('app');
    now = NOW - 3_600_000;
    assert.equal(await claims.nextId('app'), ulidAfter(first));
    await claims.saveClaim(claim(first));
    assert.equal(await fresh().nextId('app'), ulidAfter(first));
  });

  it('follows the greatest of claims, results and the newest revision', async () => {
    const greatest = '7ZZZZZZZZZZZZZZZZZZZZZZZZ0';
    await fresh().saveClaim(claim('01ARZ3NDEKTSV4RRFFQ69G0001'));
    await fresh().saveResult('app', result('6ARZ3NDEKTSV4RRFFQ69G0002X', '01ARZ3NDEKTSV4RRFFQ69G0001', 'failed'));
    assert.equal(await fresh().nextId('app'), '6ARZ3NDEKTSV4RRFFQ69G0002Y');
    await fresh().saveClaim(claim('01ARZ3NDEKTSV4RRFFQ69G0003', 'upgrade', { revision: greatest }));
    assert.equal(await fresh().nextId('app'), '7ZZZZZZZZZZZZZZZZZZZZZZZZ1');
  });

  it('follows an id that no ULID parser accepts', async () => {
    await fresh().saveClaim(claim('7G1VJGY43HT3KZN82DS6DDIWK0', 'install', { revision: '' }));
    assert.equal(await fresh().nextId('app'), '7G1VJGY43HT3KZN82DS6DDJ000');
  });

  it('is of no concern to another installation', async () => {
    const claims = fresh();
    await claims.saveClaim(claim('7ARZ3NDEKTSV4RRFFQ69G0001X'));
    await claims.nextId('app');
    assert.equal(parseUlid(await claims.nextId('other'))?.time, NOW);
  });

  it('says which id leaves no room', async () => {
    await fresh().saveClaim(claim('id'));
    await assert.rejects(fresh().nextId('app'), {
      name: 'CnabError',
      code: 'invalid',
      message: /no ULID can follow the id "id", which is recorded in .*claims\/app/,
    });
  });
});
