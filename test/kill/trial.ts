import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endStateOf, type EndState } from './end-state.js';
import { drawMoment, type Moment, type Timeline } from './moments.js';
import type { Place } from './place.js';
import type { Shape } from './shapes.js';
import { Step } from './step.js';

/** An undisturbed run of a shape. */
export interface Reference {
  readonly shape: Shape;
  readonly end: EndState;
  readonly code: number | null;
  readonly timeline: Timeline;
}

export interface Trial {
  readonly installation: string;
  readonly moment: Moment;
  /** The first `resume` is killed too, so many milliseconds after its spawn. */
  readonly againAfterMs?: number;
  /** `empty`: it is taken up in a home that knows nothing of it. */
  readonly resumeIn: 'same' | 'empty';
}

export interface TrialEnd {
  /** `over`: equal, but the command was faster than the kill, so no kill was tried. `not-run`: it came before the Job. */
  readonly kind: 'equal' | 'not-run' | 'over';
  readonly resumes: number;
}

const RESUMES = 12;

export async function referenceRun(place: Place, shape: Shape, installation: string): Promise<Reference> {
  const home = place.newHome();
  const { counter } = place;
  try {
    const step = install(place, home, shape, installation);
    const over = new AbortController();
    const ended = step.ended.finally(() => over.abort());
    await counter.heard(`start ${installation}`, over.signal);
    const start = performance.now();
    await counter.heard(`end ${installation}`, over.signal);
    const end = performance.now();
    const { code, stderr } = await ended;
    const settled = performance.now();
    const state = await endStateOf(home, installation);
    assert.ok(state, stderr);
    assert.deepEqual([code, state.exitCode, state.ran], [shape.exitCode === 0 ? 0 : 1, shape.exitCode, 'yes'], stderr);
    assert.deepEqual(Object.keys(state.outputs).sort(), Object.keys(shape.outputs).sort(), stderr);
    assert.equal(counter.count(`start ${installation}`), 1);
    const timeline = { untilStart: start - step.begun, running: end - start, settling: settled - end };
    return { shape, end: state, code, timeline };
  } finally {
    await place.leave(home);
  }
}

export function drawTrial(reference: Reference, installation: string, place: Place, random: () => number): Trial {
  const moment = drawMoment(reference.timeline, random);
  const again = random() < 0.25 ? { againAfterMs: Math.round(random() * 1500) } : {};
  const resumeIn = place.outlivesHome && random() < 0.3 ? 'empty' : 'same';
  return { installation, moment, ...again, resumeIn };
}

/** The trial that a slow or a fast machine cannot spoil: killed as soon as the run tool tells that it has started. */
export function surelyKilled({ installation }: Pick<Trial, 'installation'>): Trial {
  return { installation, moment: { after: 'start', ms: 0 }, resumeIn: 'same' };
}

/** Kills one install, takes it up until it is settled, and compares. Rejects where it is neither equal nor not run. */
export async function tryKill(place: Place, reference: Reference, trial: Trial): Promise<TrialEnd> {
  const { installation, moment, resumeIn } = trial;
  const home = place.newHome();
  const other = resumeIn === 'empty' ? place.newHome() : home;
  try {
    const step = install(place, home, reference.shape, installation);
    await reached(place, step, installation, moment);
    const wasOver = step.isOver;
    step.kill('SIGKILL');
    const killed = await step.ended;
    const resumes = await settle(place, other, trial);
    const end = (await endStateOf(other, installation)) ?? (await endStateOf(home, installation));
    const starts = place.counter.count(`start ${installation}`);
    const told = `${JSON.stringify(trial)}, ${starts} starts; the command had said:\n${killed.stderr}\n${resumes.told}`;
    assert.deepEqual(await leftSoon(place, other, installation), [], told);
    if (starts === 0 && !wasOver) {
      // It was killed before the Job existed, perhaps before anything was recorded.
      assert.deepEqual([end?.status ?? 'failed', end?.ran ?? 'no', end?.outputs ?? {}], ['failed', 'no', {}], told);
      return { kind: 'not-run', resumes: resumes.count };
    }
    assert.equal(starts, 1, told);
    assert.deepEqual(end, reference.end, told);
    assert.deepEqual(runFolders(other), [], told);
    return { kind: wasOver ? 'over' : 'equal', resumes: resumes.count };
  } finally {
    await place.leave(home);
    if (other !== home) await place.leave(other);
  }
}

function install(place: Place, home: string, shape: Shape, installation: string): Step {
  const args = ['install', installation, place.bundle(shape, false), '--json', ...place.flags, ...shape.flags];
  return new Step(args, place.environment(home));
}

/** Waits until the moment has come or the command has ended. */
export async function reached(place: Place, step: Step, installation: string, { after, ms }: Moment): Promise<void> {
  const over = new AbortController();
  void step.ended.finally(() => over.abort());
  if (after !== 'spawn') await place.counter.heard(`${after} ${installation}`, over.signal);
  await delay(ms, undefined, { signal: over.signal }).catch(() => undefined);
}

/** Takes the run up again and again until there is nothing left to take up. */
async function settle(
  place: Place,
  home: string,
  { installation, againAfterMs, resumeIn }: Trial,
): Promise<{ count: number; told: string }> {
  let told = '';
  for (let count = 1; count <= RESUMES; count++) {
    // Another machine is not told which process is dead; a case of its own waits for its silence.
    const anyway = resumeIn === 'empty' ? ['--take-over'] : [];
    const step = new Step(['resume', installation, ...anyway, '--json', ...place.flags], place.environment(home));
    if (count === 1 && againAfterMs !== undefined) {
      await Promise.race([delay(againAfterMs), step.ended]);
      step.kill('SIGKILL');
    }
    const { code, stderr } = await step.ended;
    told += `--- resume ${count}: exit ${code}\n${stderr}\n`;
    const end = await endStateOf(home, installation);
    const settled = end === undefined ? code === 6 : end.status !== 'running' && end.status !== 'none';
    if (code !== null && settled && runFolders(home).length === 0) return { count, told };
  }
  return { count: RESUMES, told };
}

export function runFolders(home: string): string[] {
  const folder = join(home, 'cnab/runs');
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** What is deleted in the background may take a moment. */
export async function leftSoon(place: Place, home: string, installation: string): Promise<readonly string[]> {
  for (let tries = 0; ; tries++) {
    const left = await place.left(home, installation);
    if (left.length === 0 || tries === 50) return left;
    await delay(100);
  }
}
