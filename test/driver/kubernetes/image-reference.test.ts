import assert from 'node:assert/strict';
import { parseImageReference, pinnedImage } from '../../../src/driver/kubernetes/image-reference.js';
import { CnabError } from '../../../src/errors.js';

const digest = `sha256:${'a1'.repeat(32)}`;
const other = `sha256:${'b2'.repeat(32)}`;

describe('the image that is run', () => {
  for (const [image, contentDigest, want] of [
    ['foo', undefined, 'foo'],
    ['foo:1.0', undefined, 'foo:1.0'],
    ['foo', digest, `foo@${digest}`],
    ['foo/bar:1.0', digest, `foo/bar:1.0@${digest}`],
    ['localhost:5000/foo/bar', digest, `localhost:5000/foo/bar@${digest}`],
    ['localhost:5000/foo/bar:v2', digest, `localhost:5000/foo/bar:v2@${digest}`],
    ['[::1]:5000/foo', digest, `[::1]:5000/foo@${digest}`],
    [`foo@${digest}`, undefined, `foo@${digest}`],
    [`foo:1@${digest}`, digest, `foo:1@${digest}`],
  ] as const) {
    it(`${image} with ${contentDigest === undefined ? 'no digest' : 'a digest'} is run as ${want}`, () => {
      assert.equal(pinnedImage({ image, ...(contentDigest === undefined ? {} : { contentDigest }) }), want);
    });
  }

  for (const [what, image, contentDigest] of [
    ['another digest', `foo@${digest}`, other],
    ['a digest that is none', 'foo', 'invalid-digest'],
    ['a digest of the wrong length', 'foo', 'sha256:abcd'.padEnd(45, '0')],
    ['an upper-case name', 'registry.example/Foo', digest],
    ['blanks', 'foo bar', undefined],
    ['no name', '', undefined],
    ['a URL', 'https://registry.example/foo', undefined],
    ['a tag with a slash', 'foo:a/b:c:d', undefined],
  ] as const) {
    it(`an image with ${what} is refused`, () => {
      const attempt = (): string => pinnedImage({ image, ...(contentDigest === undefined ? {} : { contentDigest }) });
      assert.throws(attempt, (error) => error instanceof CnabError && error.code === 'invalid');
    });
  }

  it('a colon before the last slash is a port, one after it a tag', () => {
    assert.deepEqual(parseImageReference('r.example:5000/a/b'), { repository: 'r.example:5000/a/b' });
    assert.deepEqual(parseImageReference('r.example:5000/a/b:c'), { repository: 'r.example:5000/a/b', tag: 'c' });
  });
});
