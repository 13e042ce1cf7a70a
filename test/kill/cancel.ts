import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { endStateOf } from './end-state.js';
import type { Moment } from './moments.js';
import type { Place } from './place.js';
import type { Shape } from './shapes.js';
import { Step } from './step.js';
import { leftSoon, reached, runFolders, type Reference } from './trial.js';

/**
 * What a CI system does to a step that is canceled. GitHub's runner sends SIGINT, 7.5 s later SIGTERM, 2.5 s later it kills what is left;
 * to the step's process, which is a shell. A terminal's or another system's signals reach the whole group.
 */
export interface Cancel {
  readonly installation: string;
  readonly moment: Moment;
  readonly to: 'group' | 'shell';
  /** The run tool ignores SIGTERM, so the orderly stop takes the whole grace period and the command is killed in it. */
  readonly stubborn: boolean;
}

const TERM_AFTER_MS = 7000;
const KILL_AFTER_MS = 2500;

export interface CancelEnd {
  readonly status: string;
  readonly killed: boolean;
}

/** Cancels a step, takes the run up where it is not settled, and checks that it ended once and leaves nothing. */
export async function tryCancel(place: Place, reference: Reference, cancel: Cancel): Promise<CancelEnd> {
  const { installation, moment, to, stubborn } = cancel;
  const home = place.newHome();
  try {
    const step = installInShell(place, home, reference.shape, installation, stubborn);
    await reached(place, step, installation, moment);
    const killed = await cancelStep(step, to);
    const { stderr } = await step.ended;
    const told = await settleOrWait(place, home, installation);
    const end = await endStateOf(home, installation);
    const starts = place.counter.count(`start ${installation}`);
    const all = `${JSON.stringify(cancel)}, ${starts} starts; the command had said:\n${stderr}\n${told}`;
    assert.deepEqual(await leftSoon(place, home, installation), [], all);
    assert.deepEqual(runFolders(home), [], all);
    assert.ok(starts <= 1, all);
    if (starts === 0) {
      const { status = 'failed', ran = 'no' } = end ?? {};
      assert.ok(['failed', 'canceled'].includes(status) && ran === 'no', all);
      return { status: end === undefined ? 'nothing recorded' : `${status}, not run`, killed };
    }
    assert.ok(end, all);
    // Told to the shell alone the run goes on; told after its end it stands.
    const isStopped = end.status === 'canceled' && end.ran === 'yes';
    if (!isStopped) assert.deepEqual(end, reference.end, all);
    if (to === 'shell') assert.ok(!isStopped, all);
    return { status: end.status, killed };
  } finally {
    await place.leave(home);
  }
}

function installInShell(place: Place, home: string, shape: Shape, installation: string, stubborn: boolean): Step {
  const bundle = place.bundle(shape, stubborn);
  const args = ['install', installation, bundle, '--grace-period', '20s', ...place.flags, ...shape.flags];
  return new Step(args, place.environment(home), true);
}

/** True where something was still there to be killed. A shell that SIGINT ends may leave its command behind in the group. */
async function cancelStep(step: Step, to: Cancel['to']): Promise<boolean> {
  const group = to === 'group';
  const isThere = (): boolean => (group ? step.groupLives() : !step.isOver);
  for (const [signal, ms] of [
    ['SIGINT', TERM_AFTER_MS],
    ['SIGTERM', KILL_AFTER_MS],
  ] as const) {
    step.kill(signal, group);
    const end = performance.now() + ms;
    while (isThere() && performance.now() < end) await delay(50);
    if (!isThere()) return false;
  }
  step.kill('SIGKILL', group);
  return true;
}

/** Where a command of the step is still at it, `resume` says so (exit 7) and is tried again. */
async function settleOrWait(place: Place, home: string, installation: string): Promise<string> {
  let told = '';
  for (let count = 1; count <= 60; count++) {
    const step = new Step(['resume', installation, '--json', ...place.flags], place.environment(home));
    const { code, stderr } = await step.ended;
    told += `--- resume ${count}: exit ${code}\n${stderr}\n`;
    const end = await endStateOf(home, installation);
    const settled = end === undefined ? code === 6 : end.status !== 'running' && end.status !== 'none';
    if (code !== 7 && settled && runFolders(home).length === 0) return told;
    await delay(500);
  }
  return told;
}
