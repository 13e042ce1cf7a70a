// The functions that ajv makes of this project's own schemas, as the source of modules (src/bundle/compiled-schemas.ts).
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const source = fileURLToPath(new URL('../src/bundle/compiled-schemas.ts', import.meta.url));

/**
 * By name, an ES module; `schemas` is what belongs in the place of compiled-schemas.ts and imports the others by their
 * names, each only where it is asked for.
 */
export async function compiledSchemaModules() {
  const { ownAjv, SCHEMAS } = await fromSource();
  const code = async (allErrors) =>
    standalone.default(await ownAjv({ allErrors, code: { source: true, esm: true } }), SCHEMAS);
  return {
    'compiled-all': await code(true),
    'compiled-first': await code(false),
    schemas: `export const compiledSchemas = (allErrors) => allErrors ? import('compiled-all') : import('compiled-first');`,
  };
}

/** A plugin for esbuild: puts them in place. */
export const compiledSchemas = {
  name: 'compiled-schemas',
  async setup(builder) {
    const modules = await compiledSchemaModules();
    const resolveDir = dirname(source);
    builder.onLoad({ filter: /[/\\]bundle[/\\]compiled-schemas\.ts$/ }, () => ({
      contents: modules.schemas,
      resolveDir,
    }));
    builder.onResolve({ filter: /^compiled-(all|first)$/ }, ({ path }) => ({ path, namespace: 'compiled' }));
    builder.onLoad({ filter: /.*/, namespace: 'compiled' }, ({ path }) => ({ contents: modules[path], resolveDir }));
  },
};

/** TypeScript, so bundled first; with the same ajv as here, because its classes know their own kind only. */
async function fromSource() {
  const cache = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'cnab-schemas-'));
  try {
    const outfile = join(folder, 'schemas.mjs');
    await build({
      entryPoints: [source],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile,
      external: ['ajv', 'ajv-formats'],
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
