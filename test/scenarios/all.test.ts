import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../helpers/run-cnab.js';

/** Faults of the way that outputs take; each has a test with its number in the title, in a ring that needs no cluster. */
const SCENARIOS = 25;

describe('the fault scenarios', () => {
  it('are all there, by their numbers, in the rings that npm test runs', () => {
    const folder = join(ROOT, 'test');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.(test|sandbox)\.ts$/.test(file),
    );
    const numbers = new Set<number>();
    for (const file of files) {
      const text = readFileSync(join(folder, file), 'utf8');
      for (const [, number] of text.matchAll(/\bit\(\s*['"`]scenario (\d+): /g)) numbers.add(Number(number));
    }
    const wanted = Array.from({ length: SCENARIOS }, (_, index) => index + 1);
    assert.deepEqual(
      [...numbers].sort((a, b) => a - b),
      wanted,
    );
  });
});
