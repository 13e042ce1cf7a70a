import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const WRITER = fileURLToPath(new URL('log-writer.ts', import.meta.url));

describe('a log that fills the disk', () => {
  let top: string;
  beforeEach(async () => {
    top = await mkdtemp(join(tmpdir(), 'cnab-test-'));
  });
  afterEach(() => rm(top, { recursive: true, force: true }));

  it('leaves room for the result of its run, and keeps its beginning', async function () {
    const script = 'mount -t tmpfs -o size=1m tmpfs "$1" && exec "$2" --import tsx "$3" "$1"';
    const argv = ['-rm', 'sh', '-c', script, 'sh', top, process.execPath, WRITER];
    const { stdout } = await run('unshare', argv, { encoding: 'utf8' }).catch((error: Error & { stderr?: string }) => {
      if (!/^(?:unshare|mount):/.test(error.stderr ?? '')) throw error;
      process.stderr.write(`SKIPPED a log that fills the disk: ${error.stderr}\n`);
      return this.skip();
    });
    const { warnings, ...rest } = JSON.parse(stdout) as { warnings: string[] };
    assert.deepEqual(rest, { complete: false, isBeginning: true, isProven: true });
    assert.match(warnings.join(), /^only the first \d+ bytes of the log are recorded: .*ENOSPC/);
  });
});
