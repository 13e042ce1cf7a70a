import assert from 'node:assert/strict';
import { canonical } from '../../src/bundle/canonical.js';
import type { Json } from '../../src/bundle/bundle.js';
import { loadBundle } from '../../src/bundle/load.js';
import { validateBundle } from '../../src/bundle/validate.js';
import { CnabError } from '../../src/errors.js';
import { publicFixture, readPublicFixture } from './shared-fixtures.js';

const ACCEPTED = [
  'cnab-spec/examples/101.01-bundle.json',
  'cnab-spec/examples/101.02-bundle.json',
  'cnab-spec/examples/101.03-bundle.json',
  'cnab-go/bundles/canonical-bundle.json',
  'cnab-go/bundles/bundle.yaml',
];

const deps = { cwd: '/', stdin: () => assert.fail('standard input is not asked for') };

describe('public bundle fixtures', () => {
  for (const name of ACCEPTED) {
    it(`${name} is accepted without a warning`, async function () {
      const { problems, warnings } = await validateBundle(readPublicFixture(this, name), name);
      assert.deepEqual([...problems, ...warnings], []);
    });
  }

  it('cnab-go/bundles/digest.json is accepted, with warnings of its schemaVersion and its relative paths', async function () {
    const { bundle, warnings } = await validateBundle(
      readPublicFixture(this, 'cnab-go/bundles/digest.json'),
      'digest.json',
    );
    assert.equal(bundle?.name, 'foo');
    assert.deepEqual(
      warnings.map(({ pointer }) => pointer),
      ['/schemaVersion', '/credentials/foo/path', '/credentials/quux/path'],
    );
  });

  it('cnab-go/bundle/minimal.json is accepted with a warning of v99.98', async function () {
    const { bundle, warnings } = await validateBundle(
      readPublicFixture(this, 'cnab-go/bundle/minimal.json'),
      'minimal.json',
    );
    assert.equal(bundle?.version, 'v1.0.0');
    assert.match(warnings.map(({ message }) => message).join('|'), /^the schemaVersion "v99\.98" is not known/);
  });

  it('cnab-go/bundles/foo.json is rejected for an image without a reference', async function () {
    const { problems } = await validateBundle(readPublicFixture(this, 'cnab-go/bundles/foo.json'), 'foo.json');
    assert.deepEqual(
      problems.map(({ pointer, message }) => [pointer, message]),
      [['/images/image2', 'image "image2" has no "image": write the reference of the image']],
    );
  });

  for (const name of ['example-outputs-root', 'example-outputs-nonroot']) {
    it(`cnab-go/bundles/${name} is rejected for null images and outputs.fields`, async function () {
      const { problems } = await validateBundle(readPublicFixture(this, `cnab-go/bundles/${name}/bundle.json`), name);
      assert.deepEqual(
        problems.map(({ pointer }) => pointer),
        ['/images', '/outputs/fields'],
      );
    });
  }

  it('cnab-go/bundle/empty.json is rejected for each of its four empty fields', async function () {
    const { problems } = await validateBundle(readPublicFixture(this, 'cnab-go/bundle/empty.json'), 'empty.json');
    assert.deepEqual(
      problems.map(({ pointer }) => pointer),
      ['/invocationImages', '/name', '/schemaVersion', '/version'],
    );
  });

  for (const name of ['cnab-go/bundles/canonical-bundle.json', 'cnab-go/bundle/minimal.json']) {
    it(`${name} is its own canonical form, byte for byte`, function () {
      const source = readPublicFixture(this, name).toString('utf8');
      assert.equal(canonical(JSON.parse(source) as Json), source);
    });
  }

  it('bundle.yaml and canonical-bundle.json have the same digest, and the YAML is handed on as JSON', async function () {
    const yaml = await loadBundle(publicFixture(this, 'cnab-go/bundles/bundle.yaml'), deps);
    const json = await loadBundle(publicFixture(this, 'cnab-go/bundles/canonical-bundle.json'), deps);
    assert.deepEqual(yaml.bundle, json.bundle);
    assert.equal(yaml.digest, json.digest);
    assert.deepEqual(JSON.parse(Buffer.from(yaml.source).toString('utf8')), json.bundle);
  });

  for (const name of ['examplebun-0.1.0.tgz', 'malformed-0.1.0.tgz']) {
    it(`cnab-go/packager/${name} ends in one sentence about thick bundles`, async function () {
      const reference = publicFixture(this, `cnab-go/packager/${name}`);
      await assert.rejects(loadBundle(reference, deps), (error) => {
        assert.ok(error instanceof CnabError);
        assert.equal(error.code, 'invalid');
        assert.match(error.message, /thick bundle \(an archive\), which is not supported yet/);
        return true;
      });
    });
  }
});
