import assert from 'node:assert/strict';
import { FruitlessReading } from '../../../src/driver/kubernetes/fruitless.js';

/** Looks once a second from 0 on; `heard` and `received` at each second. Gives the second at which it was over. */
function overAt(seconds: number, heard: (second: number) => boolean, received: (second: number) => number): number {
  const reading = new FruitlessReading(0);
  let heardAt = 0;
  for (let second = 1; second <= seconds; second++) {
    if (heard(second)) heardAt = second * 1000;
    reading.look(second * 1000, heardAt, received(second));
    if (reading.isOver) return second;
  }
  return Infinity;
}

const always = (): boolean => true;
const nothing = (): number => 0;

describe('a log that has its end, read again and again', () => {
  it('brings nothing new any more when it has brought nothing for 45 s', () => {
    assert.equal(overAt(200, always, nothing), 45);
    assert.equal(
      overAt(200, always, (second) => Math.min(second, 30)),
      75,
    );
  });

  it('is not given up while a little comes now and then', () =>
    assert.equal(
      overAt(600, always, (second) => Math.floor(second / 40)),
      Infinity,
    ));

  it('is not given up for an outage, however long, nor right after one', () => {
    for (const outage of [21, 45, 60, 600]) {
      const isThere = (second: number): boolean => second < 10 || second >= 10 + outage;
      assert.equal(overAt(1000, isThere, nothing), 10 + outage + 45, `${outage} s`);
    }
  });

  it("is given up all the same where only the reader's own pauses lie between", () =>
    assert.ok(overAt(200, (second) => second % 11 === 0, nothing) <= 56));
});
