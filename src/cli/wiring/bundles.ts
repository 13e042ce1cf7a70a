import type { LoadedBundle } from '../../bundle/bundle.js';
import { CnabError } from '../../errors.js';
import type { Surroundings } from '../surroundings.js';
import type { CheckedBundle } from '../views/bundle-verdicts.js';

/** Loads what a reference names. Rejects as `loadBundle` does. The rules are read only when a bundle is. */
export async function openBundle(reference: string, surroundings: Surroundings): Promise<LoadedBundle> {
  const { loadBundle } = await import('../../bundle/load.js');
  return loadBundle(reference, sourcesOf(surroundings));
}

/** Checks what a reference names; resolves for everything that is wrong with it. */
export async function checkBundle(reference: string, surroundings: Surroundings): Promise<CheckedBundle> {
  const { loadBundleSource } = await import('../../bundle/load.js');
  const { validateBundle } = await import('../../bundle/validate.js');
  const { canonicalDigest } = await import('../../bundle/canonical.js');
  try {
    const { source, origin } = await loadBundleSource(reference, sourcesOf(surroundings));
    const { bundle, problems, warnings } = await validateBundle(source, origin);
    if (bundle === undefined) return { file: origin, problems, warnings };
    const digest = canonicalDigest(bundle as unknown as Parameters<typeof canonicalDigest>[0]);
    return { file: origin, bundle: { name: bundle.name, version: bundle.version, digest }, problems, warnings };
  } catch (error) {
    if (!(error instanceof CnabError) || error.code !== 'invalid') throw error;
    return { file: reference, problems: [], warnings: [], unreadable: error.message };
  }
}

function sourcesOf({ cwd, stdin }: Surroundings) {
  return { cwd, stdin: () => stdin as AsyncIterable<Uint8Array> };
}
