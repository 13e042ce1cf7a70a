import { nameProblem } from '../names.js';
import { error, quoted, warning, type Finding } from '../problem.js';
import type { BundleView } from '../view.js';

/** SemVer 2 with one to three numbers and an optional `v`, from end to end (the published schema's pattern is unanchored). */
const VERSION =
  /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** Minor versions of CNAB Core 1 that are understood. */
const KNOWN_MINORS = new Set(['0', '1', '2']);

/** Name, version and schemaVersion (spec 101). */
export function identityRule(view: BundleView): readonly Finding[] {
  const findings: Finding[] = [];
  if (view.name !== undefined) {
    const problem = nameProblem(view.name);
    if (problem !== undefined) findings.push(error(['name'], `the bundle's name ${quoted(view.name)} ${problem}`));
  }
  if (view.version !== undefined && !VERSION.test(view.version)) {
    findings.push(
      error(['version'], `the bundle's version ${quoted(view.version)} is no semantic version: write one like "1.2.3"`),
    );
  }
  if (view.schemaVersion !== undefined) findings.push(...schemaVersion(view.schemaVersion));
  return findings;
}

function schemaVersion(text: string): readonly Finding[] {
  const match = VERSION.exec(text);
  if (match === null) {
    return [error(['schemaVersion'], `the schemaVersion ${quoted(text)} is no semantic version: write "v1.2.0"`)];
  }
  const [, major, minor = '0'] = match;
  if (major === '1' && KNOWN_MINORS.has(minor)) return [];
  return [
    warning(['schemaVersion'], `the schemaVersion ${quoted(text)} is not known, the bundle is read as CNAB 1.2.0`),
  ];
}
