// Bundles src/ into lib/: the program in parts that are read when they are needed, and each heavy library apart.
//
// Node 20 has no compile cache for ES modules, and CommonJS files start faster there. esbuild cuts ES modules only, so
// the parts are made as such (a class exists once, however many commands use it) and then each is turned into CommonJS.
import { build, transform } from 'esbuild';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiledSchemas } from './compiled-schemas.mjs';
import { laterLibraries, leanClusterClient } from './lean-cluster-client.mjs';
import { noticesOf } from './notices.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
// Made beside the real one and put in its place at the end, so that a build that fails leaves what is there.
const lib = join(root, `node_modules/.cache/cnab-lib-${process.pid}`);
const sources = readdirSync(join(root, 'src'), { recursive: true }).map(String).sort();

/** The names that src takes from the cluster client as values; types cost nothing. */
function valuesOf(library) {
  const names = sources
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(join(root, 'src', file), 'utf8').matchAll(
        new RegExp(`import \\{([^}]*)\\} from '${library}'`, 'g'),
      ),
    ])
    .flatMap((match) => match[1].split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));
  return [...new Set(names)].sort();
}

const vendors = {
  // ajv-formats builds code with ajv's own classes, so both must come from one copy.
  ajv: `const ajv = require('ajv'); ajv.__formats = require('ajv-formats'); module.exports = ajv;`,
  'ajv-formats': `module.exports = require('./ajv.cjs').__formats;`,
  'js-yaml': `module.exports = require('js-yaml');`,
  'jsonc-parser': `export * from 'jsonc-parser';`,
  ws: `export { WebSocket, WebSocketServer } from 'ws';`,
  // What Node gives an ES module as the default import of a CommonJS file is module.exports.
  ora: `module.exports = require('ora').default;`,
  '@kubernetes/client-node': `export { ${valuesOf('@kubernetes/client-node').join(', ')} } from '@kubernetes/client-node';`,
  'kubernetes-client-node-later': laterLibraries,
};
const fileOf = (library) => `./${library.replace(/^@/, '').replace('/', '-')}.cjs`;

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  metafile: true,
  logLevel: 'warning',
};
const commonJs = {
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // import() of a CommonJS file sees only the names that a lexer finds in it; require() sees all.
  supported: { 'dynamic-import': false },
  // import.meta.url does not exist in CommonJS; source files find their neighbours (scripts) by it.
  define: { 'import.meta.url': '__moduleUrl' },
  banner: `const __moduleUrl = require('node:url').pathToFileURL(__filename).href;`,
};

const apart = {
  name: 'libraries-apart',
  setup(builder) {
    builder.onResolve({ filter: /^[@a-z]/ }, ({ path }) =>
      path in vendors ? { path: fileOf(path), external: true } : undefined,
    );
  },
};

// Parts of the framework that cost start-up time and serve what is not used here: commands found by file patterns and
// plugins (tinyglobby, minimatch), settings beside package.json (lilconfig), its own spinner, its DEBUG output.
const unused = {
  debug: 'module.exports = () => () => {};',
  tinyglobby: unusedPart('tinyglobby', 'glob'),
  minimatch: unusedPart('minimatch', 'minimatch'),
  lilconfig: unusedPart('lilconfig', 'lilconfig'),
  'cli-spinners': 'exports.dots2 = exports.line = { interval: 80, frames: ["-"] };',
};

function unusedPart(library, name) {
  return `exports.${name} = () => { throw new Error('${library} is not part of the built program'); };`;
}

const leanFramework = {
  name: 'lean-framework',
  setup(builder) {
    builder.onResolve({ filter: /^[a-z-]+$/ }, ({ path }) =>
      path in unused ? { path, namespace: 'unused' } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'unused' }, ({ path }) => ({ contents: unused[path] }));
  },
};

const sandboxServer = {
  name: 'sandbox-server',
  setup(builder) {
    builder.onResolve({ filter: /^sandbox-server$/ }, ({ path }) => ({ path, namespace: 'entry' }));
    builder.onLoad({ filter: /.*/, namespace: 'entry' }, () => ({
      contents: `import { runServerProgram } from './src/driver/sandbox/server-program.ts';
        void runServerProgram(process, process.argv.slice(2));`,
      resolveDir: root,
    }));
  },
};

async function program() {
  const { outputFiles, metafile } = await build({
    ...common,
    entryPoints: [
      { in: join(root, 'src/main.ts'), out: 'main' },
      // The sandbox's API server, a program of its own that outlives the command: it starts without the framework.
      { in: 'sandbox-server', out: 'sandbox-server' },
    ],
    format: 'esm',
    splitting: true,
    write: false,
    outdir: lib,
    outExtension: { '.js': '.cjs' },
    chunkNames: 'part-[hash]',
    plugins: [sandboxServer, compiledSchemas, apart, leanFramework],
    // Only asked for when the framework meets TypeScript, which lib/ has none of.
    external: ['typescript', 'ts-node', 'tsx'],
  });
  for (const { path, text } of outputFiles) writeFileSync(path, (await transform(text, commonJs)).code);
  return metafile;
}

async function bundle(library, contents) {
  const { metafile } = await build({
    ...common,
    format: 'cjs',
    stdin: { contents, resolveDir: root, sourcefile: `${library}.js` },
    outfile: join(lib, fileOf(library)),
    plugins: [leanClusterClient],
    external: ['./ajv.cjs'],
    // jsonc-parser's other form asks for its files by names that no bundler sees.
    mainFields: ['module', 'main'],
    minifyWhitespace: true,
    minifyIdentifiers: true,
  });
  return metafile;
}

rmSync(lib, { recursive: true, force: true });
mkdirSync(lib, { recursive: true });
// package.json says "module" for src and bin; lib/*.cjs says otherwise by its ending.
const metafiles = await Promise.all([
  program(),
  ...Object.entries(vendors).map(([library, contents]) => bundle(library, contents)),
]);
writeFileSync(join(lib, 'THIRD-PARTY-NOTICES.txt'), noticesOf(root, metafiles));

const scripts = sources.filter((file) => file.endsWith('.sh'));
if (new Set(scripts.map((file) => basename(file))).size !== scripts.length) {
  throw new Error(`two shell scripts in src share a name: ${scripts.join(', ')}`);
}
for (const file of scripts) cpSync(join(root, 'src', file), join(lib, basename(file)));
// bin/program.js keeps compiled code by it.
const digest = createHash('sha256');
for (const file of readdirSync(lib).sort()) digest.update(`${file}\n`).update(readFileSync(join(lib, file)));
writeFileSync(join(lib, 'digest'), digest.digest('hex'));
rmSync(join(root, 'lib'), { recursive: true, force: true });
renameSync(lib, join(root, 'lib'));
