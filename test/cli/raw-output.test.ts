import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { CnabError } from '../../src/errors.js';
import { writeRaw } from '../../src/cli/raw-output.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';

describe('an output as it is', () => {
  let home: string;
  beforeEach(() => (home = temporaryHome()));
  afterEach(() => removeHome(home));

  async function shown(
    content: string | Uint8Array,
    isTTY: boolean,
    digest?: string,
    sensitive = false,
  ): Promise<Buffer> {
    const file = join(home, 'output');
    writeFileSync(file, content);
    const screen = Object.assign(new PassThrough({ highWaterMark: 1 << 24 }), { isTTY });
    const output = {
      what: 'output "x"',
      file,
      sensitive,
      redirect: 'cnab outputs show app x > FILE',
      ...(digest ? { digest } : {}),
    };
    await writeRaw(output, screen);
    return (screen.read() as Buffer | null) ?? Buffer.alloc(0);
  }

  it('is written byte for byte where there is no terminal', async () => {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256));
    assert.ok((await shown(bytes, false)).equals(bytes));
    assert.equal((await shown('no newline', false)).toString(), 'no newline');
    assert.equal((await shown('', false)).length, 0);
  });

  it('gets a final newline on a terminal, once', async () => {
    assert.equal((await shown('ü', true)).toString(), 'ü\n');
    assert.equal((await shown('a\n', true)).toString(), 'a\n');
    assert.equal((await shown('', true)).toString(), '');
  });

  const refused: readonly [string, string | Uint8Array][] = [
    ['is binary', Uint8Array.of(0x61, 0xff)],
    ['is binary', Uint8Array.of(0x61, 0xc3)],
    ['holds control characters', 'a\u0000b'],
    ['holds control characters', 'a\u001b[2J'],
    ['holds control characters', 'a\u009b2J'],
  ];
  for (const [reason, content] of refused) {
    it(`is refused on a terminal when it ${reason}: ${JSON.stringify(Buffer.from(content as string).toString('latin1'))}`, async () => {
      await assert.rejects(shown(content, true), {
        code: 'invalid',
        message: `output "x" ${reason} and is not shown on a terminal`,
        suggestions: ['put it into a file: cnab outputs show app x > FILE'],
      });
    });
  }

  it('is compared with its digest, where there is one', async () => {
    const digest = `sha256:${createHash('sha256').update('right').digest('hex')}`;
    await shown('right', false, digest);
    await shown('anything', false, 'sha256:none');
    await assert.rejects(shown('wrong', false, digest), ({ code, details }: CnabError) => {
      assert.deepEqual([code, details.length], ['outputs-incomplete', 3]);
      return true;
    });
  });

  it('tells no digest of a sensitive one that is damaged, neither the recorded nor the found', async () => {
    const digest = `sha256:${createHash('sha256').update('1234').digest('hex')}`;
    await assert.rejects(shown('4321', false, digest, true), ({ code, message, details }: CnabError) => {
      assert.equal(code, 'outputs-incomplete');
      assert.deepEqual(details, [join(home, 'output')]);
      assert.doesNotMatch([message, ...details].join(), /[0-9a-f]{64}/);
      return true;
    });
  });
});
