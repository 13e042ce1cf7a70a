import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SecretMask, secretPatterns } from '../../src/action/mask.js';

function masked(secrets: string[], chunks: (string | Uint8Array)[]): string {
  const mask = new SecretMask(secretPatterns(secrets.map((secret) => Buffer.from(secret))));
  const out = chunks.map((chunk) => mask.write(Buffer.from(chunk as string)));
  return Buffer.concat([...out, mask.end()]).toString('utf8');
}

describe('SecretMask', () => {
  it('replaces a value wherever it stands', () => {
    assert.equal(masked(['s3cret'], ['a s3cret b s3crets3cret\n']), 'a ****** b ************\n');
  });

  it('replaces a value that is cut by the end of a chunk, at every place', () => {
    const text = 'before-s3cret-after';
    for (let at = 0; at <= text.length; at++) {
      assert.equal(masked(['s3cret'], [text.slice(0, at), text.slice(at)]), 'before-******-after', `cut at ${at}`);
    }
  });

  it('lets a prompt without a newline through at once', () => {
    const mask = new SecretMask(secretPatterns([Buffer.from('s3cret')]));
    assert.equal(mask.write(Buffer.from('Continue? ')).toString(), 'Continue? ');
  });

  it('masks a value that a tool prints without its final newline', () => {
    assert.equal(masked(['token-1234\n'], ['x token-1234 y']), 'x ****** y');
  });

  it('masks the long words of a value of several words, and not its ordinary ones', () => {
    const kubeconfig = 'apiVersion: v1\nclient-key-data: LS0tLS1CRUdJTiBSU0E=\n';
    assert.equal(masked([kubeconfig], ['apiVersion: v1, key LS0tLS1CRUdJTiBSU0E=']), 'apiVersion: v1, key ******');
  });

  it('masks the long strings of a JSON document as a tool prints them, and not its ordinary ones', () => {
    const key = JSON.stringify({
      type: 'service_account',
      private_key: '-----BEGIN\nMIIEvQIBADANBgkqhkiG9w0\n-----END\n',
    });
    assert.equal(masked([key], ['type service_account\nMIIEvQIBADANBgkqhkiG9w0\n']), 'type service_account\n******\n');
    assert.equal(masked(['{"auth":"dXNlcjpwYXNzd29yZA=="}'], ['auth dXNlcjpwYXNzd29yZA==']), 'auth ******');
  });

  it('takes what only begins like JSON, or is nested without end, for text', () => {
    assert.equal(masked(['{half', '['.repeat(100_000)], ['{half {hal']), '****** {hal');
  });

  it('prefers the longer of two values that begin alike', () => {
    assert.equal(masked(['pass', 'password'], ['pass', 'word pass!']), '****** ******!');
  });

  it('leaves values shorter than four bytes alone, since they are ordinary text', () => {
    assert.equal(masked(['no', '1'], ['no 1']), 'no 1');
  });

  it('shows no whole secret and loses no other byte, however the stream is cut', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 0, maxLength: 40 });
    const secret = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 4, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 3 }),
        fc.array(letters, { maxLength: 6 }),
        (secrets, chunks) => {
          const shown = masked(secrets, chunks);
          for (const one of secrets) assert.ok(!shown.includes(one), JSON.stringify({ secrets, chunks, shown }));
          assert.equal(shown, masked(secrets, [chunks.join('')]));
        },
      ),
      { numRuns: 500 },
    );
  });
});
