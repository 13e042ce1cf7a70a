import assert from 'node:assert/strict';
import { chooseImage } from '../../src/action/image.js';
import type { Bundle, InvocationImage } from '../../src/bundle/bundle.js';

const bundleOf = (...invocationImages: InvocationImage[]): Bundle => ({
  ...{ schemaVersion: '1.2.0', name: 'b', version: '1.0.0' },
  invocationImages,
});
const oci = (type: string): boolean => type === 'oci';
const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('the invocation image', () => {
  it('is the first that the driver runs, oci where it has no type', () => {
    const bundle = bundleOf({ image: 'vm:1', imageType: 'qcow' }, { image: 'a:1' }, { image: 'b:1' });
    assert.equal(chooseImage(bundle, oci, undefined).image.image, 'a:1');
    assert.throws(() => chooseImage(bundle, () => false, undefined), {
      code: 'invalid',
      message: /types are qcow, oci/,
    });
  });

  it('keeps its digest when it is relocated', () => {
    const bundle = bundleOf({ image: 'a:1', contentDigest: DIGEST });
    const { image, warnings } = chooseImage(bundle, oci, { 'a:1': 'mirror/a:1' });
    assert.deepEqual([image, warnings], [{ image: 'mirror/a:1', contentDigest: DIGEST }, []]);
  });

  it('without a digest, or with an empty one, is warned of and has none', () => {
    for (const image of [{ image: 'a:1' }, { image: 'a:1', contentDigest: '' }]) {
      const chosen = chooseImage(bundleOf(image), oci, undefined);
      assert.deepEqual(chosen.image, { image: 'a:1' });
      assert.match(chosen.warnings.join(), /a:1 has no contentDigest/);
    }
  });

  it('that the mapping lacks is refused, and nothing that every object inherits is one', () => {
    for (const image of ['a:1', 'constructor'])
      assert.throws(() => chooseImage(bundleOf({ image }), oci, { 'other:1': 'm/other:1' }), {
        message: /no entry for the invocation image/,
      });
  });
});
