import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadBundle, loadBundleSource } from '../../src/bundle/load.js';
import { CnabError } from '../../src/errors.js';

const TEXT = '{"schemaVersion":"v1.2.0","name":"x","version":"1.0.0","invocationImages":[{"image":"a/b:1"}]}';

describe('loadBundle', () => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'bundle-')));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const stdin = async function* (...chunks: (string | Uint8Array)[]): AsyncIterable<Uint8Array> {
    for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk));
  };
  const load = (reference: string, ...chunks: (string | Uint8Array)[]) =>
    loadBundle(reference, { cwd: folder, stdin: () => stdin(...chunks) });
  const refusal = async (reference: string, ...chunks: (string | Uint8Array)[]): Promise<CnabError> => {
    const error: unknown = await load(reference, ...chunks).then(
      () => assert.fail('it was loaded'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof CnabError, String(error));
    assert.equal(error.code, 'invalid');
    return error;
  };
  const write = (name: string, content: string | Uint8Array = TEXT): string => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };

  it('reads a file: the exact bytes, the digest of the canonical form, the origin as given, the real folder', async () => {
    write('sub/my.json', `${TEXT}\n`);
    const loaded = await load('sub/my.json');
    assert.equal(Buffer.from(loaded.source).toString(), `${TEXT}\n`);
    assert.equal(loaded.bundle.name, 'x');
    assert.equal(loaded.digest, 'sha256:6db9e0625c61f5ee6286ae1ddd073335eeaff8b19831b6061ab9ca84d910c4e3');
    assert.equal(loaded.origin, 'sub/my.json');
    assert.equal(loaded.folder, path.join(folder, 'sub'));
    assert.deepEqual(loaded.warnings, []);
  });

  it('reads a folder that holds bundle.json', async () => {
    write('sub/bundle.json');
    const loaded = await load('./sub/');
    assert.equal(loaded.origin, 'sub/bundle.json');
    assert.equal(loaded.folder, path.join(folder, 'sub'));
  });

  it('takes the folder that a symbolic link leads to', async () => {
    write('real/bundle.json');
    symlinkSync(path.join(folder, 'real'), path.join(folder, 'link'));
    mkdirSync(path.join(folder, 'other'));
    symlinkSync('../real/bundle.json', path.join(folder, 'other', 'bundle.json'));
    assert.equal((await load('link')).folder, path.join(folder, 'real'));
    assert.equal((await load('other')).folder, path.join(folder, 'real'));
  });

  it('reads standard input for -, in chunks that split a character, and then has no folder', async () => {
    const bytes = Buffer.from(TEXT.replace('"x"', '"é"'));
    const at = bytes.indexOf(0xc3) + 1;
    const loaded = await load('-', bytes.subarray(0, at), bytes.subarray(at));
    assert.equal(loaded.bundle.name, 'é');
    assert.equal(loaded.origin, 'standard input');
    assert.equal('folder' in loaded, false);
  });

  it('lists every problem with file, line and column, and warnings do not forbid loading', async () => {
    write('bad.json', '{\n  "name": "",\n  "invocationImages": []\n}');
    const error = await refusal('bad.json');
    assert.equal(error.message, '"bad.json" is not a valid bundle, it has 4 problems:');
    assert.match(error.details[0] ?? '', /^bad\.json:1:1: the bundle has no "schemaVersion": /);
    assert.match(error.details[2] ?? '', /^bad\.json:2:11: the bundle's name "" is empty.* \(\/name\)$/);
    write('odd.json', TEXT.replace('v1.2.0', 'v9.9.9'));
    assert.match((await load('odd.json')).warnings[0] ?? '', /^the schemaVersion "v9\.9\.9" is not known/);
  });

  it('says what is missing: a file, a bundle.json in a folder, anything on standard input', async () => {
    assert.match((await refusal('nowhere')).message, /^there is no file or folder "nowhere": give a bundle\.json/);
    assert.match((await refusal('')).message, /^the bundle reference is empty/);
    mkdirSync(path.join(folder, 'empty'));
    assert.equal((await refusal('empty')).message, 'the folder "empty" holds no bundle.json.');
    write('porter/porter.yaml', '');
    assert.match(
      (await refusal('porter')).message,
      /holds porter\.yaml but no bundle\.json: build it first with "porter build"\.$/,
    );
    write('porter/.cnab/bundle.json');
    assert.match((await refusal('porter')).message, /give porter\/\.cnab, where its bundle\.json is\.$/);
    assert.match((await refusal('-')).details[0] ?? '', /^standard input:1:1: the document is empty$/);
  });

  it('answers a registry reference and a thick bundle with what is not supported yet', async () => {
    for (const reference of [
      'ghcr.io/x/y:1',
      'x/y@sha256:abc',
      'localhost:5000/x',
      'oci://h/x',
      'example/app:1.0',
      'app:1.0',
    ]) {
      assert.match(
        (await refusal(reference)).message,
        /looks like a reference into a registry, which is not supported yet/,
      );
    }
    for (const reference of ['./x:1', 'my.folder/bundle.json', 'bundles/hello', '/x/y:1', 'x.tgz']) {
      assert.match((await refusal(reference)).message, /^there is no file or folder /);
    }
    write('thick.tgz', 'not even gzip');
    write('thick.bin', Buffer.from([0x1f, 0x8b, 8, 0]));
    for (const name of ['thick.tgz', 'thick.bin']) {
      assert.match((await refusal(name)).message, /is a thick bundle \(an archive\), which is not supported yet/);
    }
    assert.match((await refusal('-', Buffer.from([0x1f, 0x8b, 8, 0]))).message, /^standard input is a thick bundle/);
  });

  it('does not wait for a FIFO and refuses devices, sockets and circles of links', async () => {
    execFileSync('mkfifo', [path.join(folder, 'fifo')]);
    assert.match((await refusal('fifo')).message, /is a pipe, a socket or a device, not a file: .* give - /);
    const writer = spawn('sh', ['-c', 'printf x > "$1"', 'sh', path.join(folder, 'fifo')]);
    try {
      assert.match((await refusal('fifo')).message, /is a pipe, a socket or a device/);
    } finally {
      writer.kill('SIGKILL');
    }
    assert.match((await refusal('/dev/zero')).message, /is a pipe, a socket or a device/);
    const server = createServer().listen(path.join(folder, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      assert.match((await refusal('socket')).message, /is a socket or a device/);
    } finally {
      server.close();
    }
    symlinkSync('round', path.join(folder, 'round'));
    assert.match((await refusal('round')).message, /circle of symbolic links/);
    write('plain');
    assert.match((await refusal('plain/bundle.json')).message, /^there is no file or folder/);
    assert.match((await refusal('x'.repeat(5000))).message, /^"x{60}…" is too long for a path/);
    assert.match((await refusal('a\0b')).message, /^cannot read "a\\u0000b": /);
  });

  it('refuses more than 16 MiB, from a file before reading it and from standard input as soon as it is more', async () => {
    truncateSync(write('large.json'), 16 * 1024 * 1024 + 1);
    assert.match((await refusal('large.json')).message, /is larger than 16 MiB/);
    let chunks = 0;
    const endless = async function* (): AsyncIterable<Uint8Array> {
      for (;;) {
        chunks++;
        yield await Promise.resolve(new Uint8Array(1024 * 1024));
      }
    };
    await assert.rejects(
      loadBundleSource('-', { cwd: folder, stdin: endless }),
      /"standard input" is larger than 16 MiB/,
    );
    assert.equal(chunks, 17);
  });

  it('names what is no UTF-8 text', async () => {
    write(
      'latin1.json',
      Buffer.concat([Buffer.from('{\n  "name": "\uFFFDcaf'), Buffer.from([0xe9]), Buffer.from('"}')]),
    );
    assert.match(
      (await refusal('latin1.json')).details[0] ?? '',
      /:2:16: the file is not UTF-8 text: byte 20 \(0xe9\) belongs to no character$/,
    );
    write('utf16.json', Buffer.from(`\uFEFF${TEXT}`, 'utf16le'));
    assert.match((await refusal('utf16.json')).details[0] ?? '', /:1:1: the file is UTF-16: save it as UTF-8$/);
    write('mark.json', `\uFEFF${TEXT.replace('"x"', '""')}`);
    const { details } = await refusal('mark.json');
    assert.match(details[0] ?? '', /:1:1: the file begins with a byte order mark/);
    assert.match(details[1] ?? '', /the bundle's name "" is empty/);
    assert.equal(details.length, 2);
  });
});
