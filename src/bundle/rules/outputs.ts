import { OUTPUTS_FOLDER } from '../bundle.js';
import { isBelow, uncleanPath } from '../paths.js';
import { error, quoted, type Finding } from '../problem.js';
import { subjectOf } from '../subject.js';
import type { BundleView } from '../view.js';
import { pathCollisions, type Claimed } from './path-collisions.js';

/** Every output has a clean path of its own strictly below /cnab/app/outputs (spec 101; GHSA-x74g-hj34-9579 is what a `..` can do). */
export function outputsRule(view: BundleView): readonly Finding[] {
  const findings: Finding[] = [];
  const sound: Claimed[] = [];
  for (const [order, [name, { path }]] of view.outputs.entries()) {
    const at = ['outputs', name, 'path'];
    const subject = subjectOf(['outputs', name]);
    const problem = outputPathProblem(path);
    if (problem === undefined) sound.push({ order, subject, at, text: path, applyTo: undefined });
    else findings.push(error(at, `${subject} has the path ${quoted(path)}, which ${problem}`));
  }
  return [...findings, ...pathCollisions(sound, 'have the path')];
}

function outputPathProblem(path: string): string | undefined {
  const advice = `write one below ${OUTPUTS_FOLDER}`;
  if (path === '') return `is empty: ${advice}`;
  if (!path.startsWith('/')) return `is relative: ${advice}`;
  if (path === OUTPUTS_FOLDER || path === `${OUTPUTS_FOLDER}/`)
    return 'is the folder of all outputs: name a file in it';
  const unclean = uncleanPath(path);
  if (unclean !== undefined) return unclean;
  return isBelow(path, OUTPUTS_FOLDER) ? undefined : `is elsewhere: ${advice}`;
}
