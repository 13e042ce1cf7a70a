import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SecretMask, secretPatterns } from '../../src/action/mask.js';

function masked(secrets: string[], chunks: (string | Uint8Array)[]): string {
  const mask = new SecretMask(secretPatterns(secrets.map((secret) => Buffer.from(secret))));
  const out = chunks.map((chunk) => mask.write(Buffer.from(chunk as string)));
  return Buffer.concat([...out, mask.end()]).toString('utf8');
}

/** What `SecretMask` does, written as it is meant and not as it is fast. */
function replaced(text: string, secrets: readonly string[]): string {
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  let out = '';
  for (let at = 0; at < text.length;) {
    const secret = longestFirst.find((one) => text.startsWith(one, at));
    out += secret === undefined ? text.charAt(at) : '******';
    at += secret?.length ?? 1;
  }
  return out;
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

  const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl';
  for (const [form, credential] of Object.entries({
    'YAML in one line': `{token: "${TOKEN}", user: app}`,
    'YAML without blanks': `{user:app,token:"${TOKEN}"}`,
    'YAML in lines': `user: 'app'\ntoken: '${TOKEN}'\n`,
    'a list': `- [app,${TOKEN}]\n- x`,
    'an env file': `USER=app\nCLOUD_SECRET_ACCESS_KEY=${TOKEN}\n`,
    'an env file of one line': `CLOUD_SECRET_ACCESS_KEY=${TOKEN}`,
    'an env file with quotes': `export CLOUD_SECRET_ACCESS_KEY="${TOKEN}"\n`,
    'JSON in an env file': `KEY={"client_certificate_url":"app","token":"${TOKEN}"}\nX=1`,
    'names and values with colons': `user:app\nsecret:${TOKEN}\n`,
    code: `login("app",'${TOKEN}');\n`,
  })) {
    it(`masks a secret of ${form} as a tool prints it, and not its name`, () => {
      const said = 'CLOUD_SECRET_ACCESS_KEY or client_certificate_url of app is ';
      assert.equal(masked([credential], [`${said}${TOKEN}\n`]), `${said}******\n`);
    });
  }

  it('masks a word whole whose letters have bytes that latin1 takes for a blank', () => {
    assert.equal(masked(['user pass-à-voilà-à-la-carte'], ['x pass-à-voilà-à-la-carte y']), 'x ****** y');
  });

  it('takes a bounded number of parts, however large a value is, and those of small values before others', () => {
    const words = Array.from({ length: 100_000 }, (_, index) => `a-long-word-number-${index}`).join(' ');
    const patterns = secretPatterns([words, `user ${TOKEN}`].map((value) => Buffer.from(value)));
    assert.ok(patterns.length <= 20_002, `${patterns.length} patterns`);
    assert.ok(patterns.some((pattern) => pattern.equals(Buffer.from(TOKEN))));
    const marks = `x ${'['.repeat(1_000_000)}x`;
    assert.equal(secretPatterns([Buffer.from(marks)]).length, 0);
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

  it('replaces at each place the longest that stands there, from the beginning on, however the stream is cut', () => {
    const byLength = fc.oneof(...[4, 15, 16, 17, 24].map((length) => fc.tuple(fc.constant(length), fc.nat(7))));
    const one = byLength.map(([length, odd]) => `${'ab'.repeat(12)}`.slice(0, length - 1) + 'abababcd'.charAt(odd));
    const log = fc.array(fc.oneof(one, fc.constantFrom('a', 'ab', 'abababab', 'c', '\n')), { maxLength: 12 });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 6 }), log, fc.nat(9), (secrets, pieces, size) => {
        const text = pieces.join('');
        const chunks = text.match(new RegExp(`[^]{1,${size + 1}}`, 'g')) ?? [];
        assert.equal(masked(secrets, chunks), replaced(text, secrets));
      }),
      { numRuns: 1000 },
    );
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
