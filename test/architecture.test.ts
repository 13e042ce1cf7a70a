import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

interface SourceFile {
  /** Relative to src: `cli/run.ts`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

interface Import {
  /** A file relative to src, or a package's or a built-in module's name. */
  readonly to: string;
  readonly typesOnly: boolean;
}

/**
 * What the files of a folder may import, the longest folder that fits counting; a folder may always import itself.
 * `folder` allows the folder and those below it, `folder:types` only types, `folder/file.ts` that file.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['cli', 'commands'],
  commands: ['cli', 'action', 'bundle', 'claim', 'credential', 'driver/registry.ts', 'errors.ts', '@oclif/core'],
  cli: [
    'action',
    'bundle',
    'claim',
    'driver/clock.ts',
    'driver/driver.ts',
    'driver/settings.ts',
    'errors.ts',
    '@oclif/core',
    'ora',
  ],
  // The one place that puts the parts together; nothing but commands imports it.
  'cli/wiring': [
    'cli',
    'action',
    'bundle',
    'claim',
    'credential',
    'driver/registry.ts',
    'driver/clock.ts',
    'driver/driver.ts',
    'driver/settings.ts',
    'errors.ts',
  ],
  action: ['bundle', 'claim', 'credential', 'driver/driver.ts', 'driver/clock.ts', 'errors.ts'],
  bundle: ['errors.ts', 'ajv', 'ajv-formats', 'jsonc-parser', 'js-yaml'],
  credential: ['bundle', 'action:types', 'errors.ts', 'js-yaml'],
  claim: ['bundle', 'errors.ts'],
  driver: ['bundle:types', 'claim/target.ts:types', 'errors.ts'],
  'driver/registry.ts': ['driver', 'claim:types', 'errors.ts'],
  'driver/kubernetes': [
    'driver/driver.ts',
    'driver/clock.ts',
    'driver/settings.ts',
    'bundle/bundle.ts',
    // Commands to paste are quoted in one way.
    'bundle/shell-word.ts',
    // A run's id tells when it was begun, and is read in one way.
    'claim/ulid.ts',
    'claim/target.ts:types',
    'frame',
    'errors.ts',
    '@kubernetes/client-node:types',
    'js-yaml',
    'ws',
  ],
  'driver/sandbox': [
    'driver',
    'bundle:types',
    'claim/target.ts:types',
    'frame',
    'errors.ts',
    '@kubernetes/client-node:types',
    'ws',
  ],
  frame: ['errors.ts'],
  'errors.ts': [],
};

const KUBECONFIG_FILES = /^driver\/kubernetes\/(?:client|kubeconfig)[\w-]*\.ts$/;
/** Members of the global; a local variable may be called process and have others. */
const PROCESS =
  /(?<![\w.])process\.(?:env|cwd|chdir|argv|argv0|exit|exitCode|std(?:in|out|err)|on|off|once|emitWarning|platform|arch|pid|ppid|kill|versions?|hrtime|gete?[ug]id|umask|exec(?:Path|Argv)|memoryUsage)\b/;
const LARGEST_FILE = 250;
const LARGEST_TEST = 300;
const LARGEST_COMMAND = 80;

const files: readonly SourceFile[] = (readdirSync(join(root, 'src'), { recursive: true }) as string[])
  .filter((path) => path.endsWith('.ts'))
  .sort()
  .map((path) => {
    const text = readFileSync(join(root, 'src', path), 'utf8');
    return { path, text, imports: importsOf(path, text) };
  });

describe('architecture', () => {
  it('lets a folder import only what the table says', () => {
    const wrong = files.flatMap((file) =>
      file.imports.filter((imported) => !isAllowed(file.path, imported)).map(({ to }) => `${file.path} imports ${to}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('knows every folder of src', () => {
    assert.deepEqual([...new Set(files.map(({ path }) => path).filter((path) => ruleOf(path) === undefined))], []);
  });

  it('has no cycle of values between files', () => assert.deepEqual(findCycle(files), []));

  it(`has no file over ${LARGEST_FILE} lines, and no test over ${LARGEST_TEST}`, () => {
    const tests = (readdirSync(join(root, 'test'), { recursive: true }) as string[])
      .filter((path) => path.endsWith('.ts'))
      .map((path) => ({ path: `test/${path}`, text: readFileSync(join(root, 'test', path), 'utf8') }));
    const long = [
      ...files.filter(({ text }) => linesOf(text) > LARGEST_FILE),
      ...tests.filter(({ text }) => linesOf(text) > LARGEST_TEST),
    ];
    assert.deepEqual(
      long.map(({ path, text }) => `${path}: ${linesOf(text)}`),
      [],
    );
  });

  it(`has no command over ${LARGEST_COMMAND} lines, and none without examples`, () => {
    const commands = files.filter(({ path }) => path.startsWith('commands/') && path !== 'commands/index.ts');
    const long = commands.filter(({ text }) => linesOf(text) > LARGEST_COMMAND);
    assert.deepEqual(
      long.map(({ path }) => path),
      [],
    );
    assert.deepEqual(
      commands.filter(({ text }) => !text.includes('static override examples')).map(({ path }) => path),
      [],
    );
  });

  it('uses process.* in cli and commands only', () => {
    const users = files.filter(({ path, text }) => !/^(?:cli|commands)\//.test(path) && PROCESS.test(code(text)));
    assert.deepEqual(
      users.map(({ path }) => path),
      [],
    );
  });

  it('speaks of a cluster in one folder only', () => {
    const speakers = files.filter(
      ({ path, imports }) => !path.startsWith('driver/') && imports.some(({ to }) => to.startsWith('@kubernetes/')),
    );
    assert.deepEqual(
      speakers.map(({ path }) => path),
      [],
    );
  });

  it('has no TODO', () => {
    const marked = files.filter(({ text }) => /\b(?:TODO|FIXME)\b/.test(text));
    assert.deepEqual(
      marked.map(({ path }) => path),
      [],
    );
  });
});

function isAllowed(path: string, { to, typesOnly }: Import): boolean {
  const rule = ruleOf(path);
  if (rule === undefined || to.startsWith('node:')) return true;
  if (KUBECONFIG_FILES.test(path) && to.startsWith('@kubernetes/client-node')) return true;
  return [...(MAY_IMPORT[rule] ?? []), rule].some((allowed) => {
    const [what = '', kind] = allowed.split(':');
    return (to === what || to.startsWith(`${what}/`)) && (kind !== 'types' || typesOnly);
  });
}

function ruleOf(path: string): string | undefined {
  return Object.keys(MAY_IMPORT)
    .filter((folder) => path === folder || path.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0];
}

function importsOf(path: string, text: string): readonly Import[] {
  const statements = [...text.matchAll(/^(import|export) (type )?([^;]*?)from '([^']+)'/gms)].map((match) => {
    const named = /^\{([\s\S]*)\}\s*$/.exec(match[3] ?? '');
    const allTypes =
      named !== null && named[1]?.split(',').every((name) => name.trim() === '' || /^type /.test(name.trim())) === true;
    return { specifier: match[4] ?? '', typesOnly: match[2] !== undefined || allTypes };
  });
  const bare = [...text.matchAll(/^import '([^']+)'/gm)].map((match) => ({
    specifier: match[1] ?? '',
    typesOnly: false,
  }));
  const lazy = [...text.matchAll(/\bimport\('([^']+)'\)(\.)?/g)].map((match) => ({
    specifier: match[1] ?? '',
    typesOnly: match[2] !== undefined,
  }));
  return [...statements, ...bare, ...lazy].map(({ specifier, typesOnly }) => ({
    to: resolved(path, specifier),
    typesOnly,
  }));
}

function resolved(path: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  return normalize(join(dirname(path), specifier)).replace(/\.js$/, '.ts');
}

/** Depth-first search; the first cycle found, as its files. Types leave nothing behind, so they may go round. */
function findCycle(all: readonly SourceFile[]): readonly string[] {
  const byPath = new Map(all.map((file) => [file.path, file]));
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return [];
    for (const { to, typesOnly } of byPath.get(path)?.imports ?? []) {
      if (typesOnly || !byPath.has(to)) continue;
      const cycle = visit(to, [...trail, path]);
      if (cycle.length > 0) return cycle;
    }
    done.add(path);
    return [];
  };
  for (const { path } of all) {
    const cycle = visit(path, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

function linesOf(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}

/** The text without comments and strings. */
function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '').replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, "''");
}
