import { CnabError } from '../errors.js';
import type { LoadedBundle } from './bundle.js';
import { canonical, canonicalDigest } from './canonical.js';
import { describeProblem, quoted, type Problem } from './problem.js';
import { loadBundleSource, type BundleSourceDeps } from './source.js';
import { validateBundle } from './validate.js';
import { isYamlName } from './yaml-document.js';

export { loadBundleSource, type BundleSource, type BundleSourceDeps } from './source.js';

/**
 * Reads and checks the bundle that a reference names: a file, a folder that holds bundle.json, or `-` for standard
 * input. A YAML bundle is handed on as canonical JSON, which is what run tools read.
 *
 * Rejects with CnabError `invalid` when it cannot be read (see `loadBundleSource`) or is no valid bundle; then the
 * details hold one line per problem, `file:line:column: message (pointer)`.
 */
export async function loadBundle(reference: string, deps: BundleSourceDeps): Promise<LoadedBundle> {
  const { source, origin, folder } = await loadBundleSource(reference, deps);
  const { bundle, problems, warnings } = await validateBundle(source, origin);
  if (bundle === undefined) throw invalidBundle(origin, problems);
  return {
    bundle,
    source: isYamlName(origin) ? Buffer.from(canonical(asJson(bundle)), 'utf8') : source,
    digest: canonicalDigest(asJson(bundle)),
    origin,
    ...(folder === undefined ? {} : { folder }),
    warnings: warnings.map(({ message }) => message),
  };
}

/** The error for a bundle with problems, one line of details for each. */
function invalidBundle(origin: string, problems: readonly Problem[]): CnabError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  return new CnabError('invalid', `${quoted(origin)} is not a valid bundle, it has ${count}:`, {
    details: problems.map(describeProblem),
  });
}

/** What came from JSON text is JSON, whatever its interface says. */
function asJson(bundle: LoadedBundle['bundle']): Parameters<typeof canonical>[0] {
  return bundle as unknown as Parameters<typeof canonical>[0];
}
