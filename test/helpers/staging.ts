import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Runs `use` with a new folder (0700), and removes it and what is in it afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'cnab-test-'));
  try {
    return await use(folder);
  } finally {
    // A test may have left a folder of mode 0000, which nobody but root can look into.
    await promisify(execFile)('chmod', ['-R', 'u+rwX', folder]);
    await rm(folder, { recursive: true, force: true });
  }
}
