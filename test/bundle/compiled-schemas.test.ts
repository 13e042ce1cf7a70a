import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { compiledSchemas } from '../../scripts/compiled-schemas.mjs';
import * as fromSource from '../../src/bundle/own-schemas.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixtures = join(root, 'test/fixtures/bundles');

/** What the fixtures lack: a document that breaks everything at once. */
const BROKEN = {
  schemaVersion: 1,
  invocationImages: [],
  maintainers: [{ email: 'a@example.org' }],
  parameters: { p: { destination: { env: 1 } } },
  outputs: { constructor: {} },
  actions: { a: { modifies: 'yes', stateless: null } },
  requiredExtensions: ['x', 2],
  colour: 'blue',
};
const DEFINITIONS = [
  true,
  { type: 'strong' },
  { type: ['string', 'string'], required: 'a', minLength: -1, pattern: 1 },
  { properties: { deep: { items: [{ enum: [] }, 5], allOf: [] } }, $ref: 7 },
  { required: ['a', 'a'], uniqueItems: 1, if: { not: null } },
];

describe("the checks by this project's own schemas, compiled when the program is built", () => {
  // Beside the tree's own packages, where esbuild resolves what the compiled code asks for.
  const cache = join(root, 'node_modules/.cache');
  let folder: string;
  let built: typeof fromSource;

  before(async () => {
    mkdirSync(cache, { recursive: true });
    folder = mkdtempSync(join(cache, 'cnab-test-'));
    const outfile = join(folder, 'own-schemas.cjs');
    await build({
      entryPoints: [join(root, 'src/bundle/own-schemas.ts')],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      outfile,
      external: ['ajv', 'ajv-formats'],
      plugins: [compiledSchemas],
      logLevel: 'warning',
    });
    built = createRequire(import.meta.url)(outfile) as typeof fromSource;
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const allErrors of [true, false]) {
    it(`say the same as those that are compiled at run time, ${allErrors ? 'all errors' : 'the first error'}`, async () => {
      const [here, there] = await Promise.all([
        fromSource.loadOwnSchemas({ allErrors }),
        built.loadOwnSchemas({ allErrors }),
      ]);
      let errors = 0;
      for (const document of [BROKEN, ...documents()]) {
        const expected = here.bundle(document);
        errors += expected.length;
        assert.deepEqual(there.bundle(document), expected);
      }
      for (const definition of DEFINITIONS) {
        const expected = here.draft7(definition);
        errors += expected.length;
        assert.deepEqual(there.draft7(definition), expected);
      }
      assert.ok(errors > 10, `only ${errors} errors were compared`);
    });
  }

  it('are not compiled any more', () => {
    assert.doesNotMatch(readFileSync(join(folder, 'own-schemas.cjs'), 'utf8'), /addSchema\(/);
  });
});

function documents(): unknown[] {
  return readdirSync(fixtures)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      try {
        return [JSON.parse(readFileSync(join(fixtures, file), 'utf8')) as unknown];
      } catch {
        return [];
      }
    });
}
