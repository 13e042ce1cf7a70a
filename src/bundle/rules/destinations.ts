import type { Destination } from '../bundle.js';
import { forbiddenDestination, isBelow, rootedPath, uncleanPath } from '../paths.js';
import { error, quoted, warning, type Finding } from '../problem.js';
import { subjectOf } from '../subject.js';
import type { BundleView } from '../view.js';

/** Where parameters and credentials go: an environment variable, a file or both (spec 101 and 103). */
export function destinationsRule(view: BundleView): readonly Finding[] {
  return [
    ...view.parameters.flatMap(([name, { destination }]) =>
      checkDestination(['parameters', name, 'destination'], subjectOf(['parameters', name]), destination),
    ),
    ...view.credentials.flatMap(([name, credential]) =>
      checkDestination(['credentials', name], subjectOf(['credentials', name]), credential),
    ),
  ];
}

function checkDestination(at: readonly string[], subject: string, destination: Destination): readonly Finding[] {
  const { env, path } = destination;
  if (env === undefined && path === undefined) {
    return [error(at, `${subject} has no destination: write "env", "path" or both`)];
  }
  return [
    ...(env === undefined ? [] : checkVariable([...at, 'env'], subject, env)),
    ...(path === undefined ? [] : checkPath([...at, 'path'], subject, path)),
  ];
}

function checkVariable(at: readonly string[], subject: string, env: string): readonly Finding[] {
  const shown = `${subject} goes to the environment variable ${quoted(env)}, which`;
  if (env === '')
    return [error(at, `${subject} goes to an environment variable without a name: give it one, as in "PORT"`)];
  if (/[=\p{Cc}\p{Surrogate}]/u.test(env))
    return [error(at, `${shown} cannot exist: remove "=" and control characters from its name`)];
  if (env.startsWith('CNAB_'))
    return [error(at, `${shown} is reserved: names that begin with CNAB_ belong to the runtime`)];
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(env)) {
    return [warning(at, `${shown} a shell cannot read: use letters, digits and "_" only`)];
  }
  return [];
}

const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'];

function checkPath(at: readonly string[], subject: string, path: string): readonly Finding[] {
  if (path === '') return [error(at, `${subject} goes to a path that is empty: write one, as in "/etc/app/config"`)];
  const rooted = rootedPath(path);
  const shown = `${subject} goes to ${quoted(path)}, which`;
  const problem = uncleanPath(rooted) ?? forbiddenDestination(rooted);
  if (problem !== undefined) return [error(at, `${shown} ${problem}`)];
  const findings: Finding[] = [];
  if (rooted !== path) findings.push(warning(at, `${shown} is relative: it is read as ${quoted(rooted)}`));
  const kernel = KERNEL_FOLDERS.find((folder) => rooted === folder || isBelow(rooted, folder));
  if (kernel !== undefined)
    findings.push(warning(at, `${shown} lies in ${kernel}, where the kernel allows no such file`));
  return findings;
}
