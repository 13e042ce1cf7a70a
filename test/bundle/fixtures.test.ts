import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { validateBundle } from '../../src/bundle/validate.js';

const FOLDER = new URL('../fixtures/bundles/', import.meta.url);

/** `name: accepted|rejected`, then one indented line for each problem: severity, line:column, pointer, beginning of the message. */
function readVerdicts(): Map<string, { verdict: string; lines: string[] }> {
  const verdicts = new Map<string, { verdict: string; lines: string[] }>();
  let lines: string[] = [];
  for (const line of readFileSync(new URL('verdicts.txt', FOLDER), 'utf8').split('\n')) {
    if (line.startsWith('  ')) lines.push(line.trim());
    const [name, verdict] = line.startsWith('  ') ? [] : line.split(': ');
    if (name === undefined || verdict === undefined) continue;
    lines = [];
    verdicts.set(name, { verdict, lines });
  }
  return verdicts;
}

describe('bundle fixtures: what the spec says beyond its schema', () => {
  const verdicts = readVerdicts();

  it('has a verdict for each fixture and a fixture for each verdict', () => {
    const names = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
    assert.deepEqual(names.map((file) => file.slice(0, -'.json'.length)).sort(), [...verdicts.keys()].sort());
  });

  for (const [name, { verdict, lines }] of verdicts) {
    it(`${name} is ${verdict}${lines.length > 0 ? ` with ${lines.length} said` : ''}`, async () => {
      const source = readFileSync(new URL(`${name}.json`, FOLDER));
      const { bundle, problems, warnings } = await validateBundle(source, `${name}.json`);
      assert.equal(bundle === undefined ? 'rejected' : 'accepted', verdict);
      const said = [...problems, ...warnings].map(
        ({ severity, line, column, pointer, message }) => `${severity} ${line}:${column} ${pointer || '-'} ${message}`,
      );
      assert.deepEqual(
        said.map((text, index) => text.slice(0, lines[index]?.length)),
        lines,
      );
      for (const { file } of [...problems, ...warnings]) assert.equal(file, `${name}.json`);
    });
  }
});
