import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Assembler } from '../../src/frame/assemble.js';
import { withFolder } from '../helpers/staging.js';

const page = await readFile(new URL('../../docs/outputs-protocol.md', import.meta.url), 'utf8');
const example = /```text\n(CNABO1 [0-9A-Z]{26} [^`]*)```/.exec(page)?.[1] ?? '';

describe('docs/outputs-protocol.md', () => {
  it('shows a log that is what it says', () =>
    withFolder(async (staging) => {
      const limits = { maxOutputBytes: 100, maxTotalBytes: 100 };
      const assembler = new Assembler({ runId: example.split(' ')[1] ?? '', wanted: 3, staging, limits });
      await assembler.accept(Buffer.from(example));
      assert.equal(assembler.complete, true);
      const { outputs, problems, noise } = await assembler.finish();
      const contents = await Promise.all(outputs.map(({ file }) => readFile(file, 'utf8')));
      assert.deepEqual(contents, ['Hello, world!', '']);
      assert.deepEqual([problems.map(({ index, kind }) => [index, kind]), noise], [[[1, 'missing']], 0]);
    }));

  it('lists every type of line', async () => {
    const grammar = await readFile(new URL('../../src/frame/grammar.ts', import.meta.url), 'utf8');
    const types = [...grammar.matchAll(/readonly type: '([a-z]+)'/g)].map(([, type]) => type ?? '');
    assert.equal(types.length, 10);
    for (const type of types) assert.match(page, new RegExp(`\\| \`${type}\` +\\|`));
  });
});
