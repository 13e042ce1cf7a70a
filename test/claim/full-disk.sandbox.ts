import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { removeFolder, tempFolder } from './samples.js';

const run = promisify(execFile);
const WRITER = fileURLToPath(new URL('writer.ts', import.meta.url));

describe('a claim store on a disk that is full', () => {
  let top: string;
  beforeEach(async () => {
    top = await tempFolder();
  });
  afterEach(() => removeFolder(top));

  it('names a disk that is full, loses nothing, and works again when there is room', async function () {
    const script = 'mount -t tmpfs -o size=64k tmpfs "$1" && exec "$2" --import tsx "$3" "$1/home" fill';
    const argv = ['-rm', 'sh', '-c', script, 'sh', top, process.execPath, WRITER];
    const { stdout } = await run('unshare', argv, { encoding: 'utf8' }).catch((error: Error & { stderr?: string }) => {
      if (!/unshare|mount/.test(error.stderr ?? error.message)) throw error;
      this.test!.title += ` (skipped: no mount namespace: ${(error.stderr ?? error.message).trim()})`;
      return this.skip();
    });
    const report = JSON.parse(stdout) as {
      code: string;
      message: string;
      before: number;
      after: number;
      again: boolean;
    };
    assert.equal(report.code, 'unavailable');
    assert.match(report.message, /^cannot write \/.*: no space is left on the disk \(ENOSPC\)$/);
    assert.ok(report.before > 0);
    assert.deepEqual([report.after, report.again], [report.before, true]);
  });
});
