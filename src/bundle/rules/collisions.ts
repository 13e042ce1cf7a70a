import { forbiddenDestination, rootedPath, uncleanPath } from '../paths.js';
import { error, quoted, type Finding } from '../problem.js';
import { subjectOf } from '../subject.js';
import type { BundleView } from '../view.js';
import { pathCollisions, type Claimed } from './path-collisions.js';
import { createScopes, type Scopes } from './scopes.js';

/**
 * No two values may go to one variable or one file for the same action (spec 103: a parameter must not override a
 * credential), and no file may stand where another needs a folder.
 */
export function collisionsRule(view: BundleView): readonly Finding[] {
  const variables: Claimed[] = [];
  const files: Claimed[] = [];
  const claim = (
    at: readonly string[],
    subject: string,
    destination: { env?: string; path?: string },
    applyTo?: readonly string[],
  ): void => {
    const order = variables.length + files.length;
    const { env, path } = destination;
    if (env !== undefined && env !== '') variables.push({ order, subject, at: [...at, 'env'], text: env, applyTo });
    if (path === undefined || path === '') return;
    const rooted = rootedPath(path);
    // What is refused for itself is not compared as well.
    if (uncleanPath(rooted) !== undefined || forbiddenDestination(rooted) !== undefined) return;
    files.push({ order, subject, at: [...at, 'path'], text: rooted, applyTo });
  };
  for (const [name, credential] of view.credentials)
    claim(['credentials', name], subjectOf(['credentials', name]), credential, credential.applyTo);
  for (const [name, { destination, applyTo }] of view.parameters) {
    claim(['parameters', name, 'destination'], subjectOf(['parameters', name]), destination, applyTo);
  }
  return [...variableCollisions(variables), ...pathCollisions(files, 'go to')];
}

function variableCollisions(claims: readonly Claimed[]): readonly Finding[] {
  const taken = new Map<string, Scopes<Claimed>>();
  const findings: Finding[] = [];
  for (const claimed of claims) {
    const scopes = taken.get(claimed.text) ?? createScopes<Claimed>();
    const other = scopes.meeting(claimed.applyTo);
    if (other !== undefined) {
      const message = `${other.subject} and ${claimed.subject} both go to the environment variable ${quoted(claimed.text)}: give each its own`;
      findings.push(error(claimed.at, message));
    }
    scopes.add(claimed.applyTo, claimed);
    taken.set(claimed.text, scopes);
  }
  return findings;
}
