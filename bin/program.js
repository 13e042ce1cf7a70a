// Loads the built program, its parts with the machine code that V8 made of them the last time: half of what a start
// takes is compiling (measured on Node 20, which has no cache of its own). The cache is the user's own file,
// $XDG_CACHE_HOME/cnab/program-KEY, and is made anew for another build or another Node. Whatever is wrong with it, the
// program starts without. NODE_DISABLE_COMPILE_CACHE=1, as for Node's own from 22 on, turns it off.
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');

const HEAD = '(function (exports, require, module, __filename, __dirname) { ';
const MAIN = 'main.cjs';
/** Of the cache file. */
const FORMAT = 1;
const DIGEST_BYTES = 32;
/** A mistyped command is one, too. */
const MOST_WORDS = 40;
const MOST_FILES = 4;

/** What `main.cjs` in `folder` exports. `surroundings`: argv, env, getuid, versions, arch and on, as `process` has them. */
exports.loadProgram = function loadProgram(folder, surroundings) {
  const file = cacheFile(folder, surroundings);
  const cached = file === undefined ? undefined : readCache(file, surroundings.getuid());
  const parts = new Map();
  const load = (name) => {
    const known = parts.get(name);
    if (known !== undefined) return known.module.exports;
    const part = compile(folder, name, cached?.code[name]);
    parts.set(name, part);
    const { module, run } = part;
    // Node's own table: the framework asks for main.cjs by its path.
    Module._cache[module.filename] = module;
    run.call(module.exports, module.exports, require, module, module.filename, folder);
    module.loaded = true;
    return module.exports;
  };
  const ofNode = Module.createRequire(path.join(folder, MAIN));
  const require = (name) => (name.startsWith('./') ? load(name.slice(2)) : ofNode(name));
  if (file !== undefined) surroundings.on('exit', () => keepCache(file, parts, cached, surroundings.argv[2] ?? ''));
  return load(MAIN);
};

function compile(folder, name, cachedData) {
  const filename = path.join(folder, name);
  const module = new Module(filename);
  module.filename = filename;
  const source = `${HEAD}${fs.readFileSync(filename, 'utf8')}\n})`;
  const script = new vm.Script(source, { filename, cachedData, columnOffset: -HEAD.length });
  return { module, script, run: script.runInThisContext(), isNew: script.cachedDataRejected !== false };
}

/** Where the cache of this build belongs; undefined where there can be none. V8 knows a source by its length only, so the build's digest is in the name. */
function cacheFile(folder, { env, getuid, versions, arch }) {
  const base = env.XDG_CACHE_HOME || (env.HOME && path.join(env.HOME, '.cache'));
  if (!base || !path.isAbsolute(base) || getuid === undefined || env.NODE_DISABLE_COMPILE_CACHE === '1')
    return undefined;
  try {
    const build = fs.readFileSync(path.join(folder, 'digest'), 'utf8');
    const key = digestOf(`${FORMAT} ${folder} ${build} ${versions.v8} ${arch}`).toString('hex').slice(0, 16);
    return path.join(base, 'cnab', `program-${key}`);
  } catch {
    return undefined;
  }
}

/** `{ words, code }`: the commands it was made by, code by part. What it holds is run: the file must be one that nobody but this user can have written, and whole. */
function readCache(file, uid) {
  let handle;
  try {
    handle = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    const found = fs.fstatSync(handle);
    if (!found.isFile() || found.uid !== uid || (found.mode & 0o022) !== 0) return undefined;
    const bytes = fs.readFileSync(handle);
    const code = bytes.subarray(DIGEST_BYTES);
    if (!digestOf(code).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined;
    return v8.deserialize(code);
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) fs.closeSync(handle);
  }
}

/** After a command that is new to the cache or read a part that it lacks: its parts anew, with every function that was called. */
function keepCache(file, parts, cached, word) {
  const words = cached?.words ?? [];
  if (words.includes(word) && ![...parts.values()].some(({ isNew }) => isNew)) return;
  const draft = `${file}.${process.pid}`;
  try {
    const code = { ...cached?.code };
    for (const [name, { script }] of parts) code[name] = script.createCachedData();
    const bytes = v8.serialize({ words: [...words, word].slice(-MOST_WORDS), code });
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    try {
      fs.writeFileSync(draft, Buffer.concat([digestOf(bytes), bytes]), { mode: 0o600, flag: 'wx' });
      fs.renameSync(draft, file);
    } finally {
      fs.rmSync(draft, { force: true });
    }
    removeOlder(path.dirname(file));
  } catch {
    // A full or read-only disk: the next start takes as long as this one did.
  }
}

function digestOf(bytes) {
  return createHash('sha256').update(bytes).digest();
}

/** All but the newest ones: each build has one of its own. */
function removeOlder(folder) {
  const files = fs
    .readdirSync(folder)
    .filter((name) => name.startsWith('program-'))
    .map((name) => path.join(folder, name))
    .map((file) => ({ file, since: fs.statSync(file).mtimeMs }))
    .sort((one, other) => other.since - one.since);
  for (const { file } of files.slice(MOST_FILES)) fs.rmSync(file);
}
