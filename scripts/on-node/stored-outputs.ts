import { createHash } from 'node:crypto';
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** sha256 of each output in the records of a home, by its name, read from the disk; of an output with several results the newest. */
export async function storedDigests(home: string): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const file of storedOutputs(home).sort()) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    digests.set(/\w{26}-([^/]+)$/.exec(file)?.[1] ?? '', hash.digest('hex'));
  }
  return digests;
}

/** Files of the outputs in the records of a home. */
export function storedOutputs(home: string): string[] {
  return readdirSync(join(home, 'cnab/targets'), { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
    .filter(({ entry, path }) => entry.isFile() && path.includes('/outputs/'))
    .map(({ path }) => path);
}
