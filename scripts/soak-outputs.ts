// Outputs above small over bad lines, again and again, on a real node whose kubelet rotates logs at 10 MiB (npm run soak:outputs).
// Every byte of every run has to come, or the exit code is 1; a line for each run, and one for each case at the end. Not part of npm test.
//
//   --runs N     of each case (default 20; of the case exec-cuts 3)
//   --only CASE  log, log-cuts, log-slow or exec-cuts
//   --jobs N     runs at a time (default: what two cores carry, 3 of those that wait for a bad line most of the time)
//
// A node that is up is used: CNAB_CLUSTER_DIR. Needs 3 GiB of disk for each run at a time, 12 of the case exec-cuts.
import { statfsSync } from 'node:fs';
import { MiB, median, option } from './on-node/figures.js';
import { onNode } from './on-node/inside.js';
import { soakOnce, type SoakCase, type SoakRun } from './soak-outputs/one-run.js';

const CUTS = { cutAfterSeconds: { from: 1, to: 5 } };
const LARGE = [100 * MiB, 100 * MiB + 1, 56 * MiB - 1];

const cases: Readonly<Record<string, SoakCase>> = {
  log: { title: '256 MiB in 3 files by the log', runs: 20, jobs: 1, sizes: LARGE, via: 'log', line: {} },
  'log-cuts': { title: 'the same, cut every 1-5 s', runs: 20, jobs: 3, sizes: LARGE, via: 'log', line: CUTS },
  'log-slow': {
    title: '96 MiB by the log, at 5 MB/s',
    runs: 20,
    jobs: 3,
    sizes: [96 * MiB],
    via: 'log',
    line: { bytesPerSecond: 5_000_000 },
  },
  'exec-cuts': {
    title: '4 GiB by exec, cut every 1-5 s',
    runs: 3,
    jobs: 1,
    sizes: Array.from({ length: 4 }, () => 1024 * MiB),
    via: 'exec',
    line: CUTS,
  },
};

const HEAD =
  'case                              complete   median s   longest s     cuts   rotations   travelled   peak MiB';

await onNode(import.meta.url, async () => {
  const only = option('only');
  const chosen = Object.entries(cases).filter(([name]) => only === undefined || only === name);
  if (chosen.length === 0) throw new Error(`there is no case ${only}`);
  const { bavail, bsize } = statfsSync(process.env['CNAB_CLUSTER_DIR'] ?? '/');
  const needed = Math.max(...chosen.map(([, given]) => jobsOf(given) * diskOf(given)));
  if (bavail * bsize < needed) {
    console.error(
      `not enough disk: ${Math.floor((bavail * bsize) / MiB)} MiB free, ${Math.ceil(needed / MiB)} MiB needed`,
    );
    return false;
  }
  const lines: string[] = [];
  let complete = true;
  for (const [name, given] of chosen) {
    const runs = await repeat(name, given);
    complete &&= runs.length === runsOf(given) && runs.every(({ problem }) => problem === undefined);
    lines.push(line(given, runs));
  }
  console.log(`\n${HEAD}\n${lines.join('\n')}`);
  return complete;
});

function jobsOf({ jobs }: SoakCase): number {
  return Number(option('jobs') ?? jobs);
}

function runsOf({ runs }: SoakCase): number {
  return Number(option('runs') ?? runs);
}

/** In the pod, in the staging folder and, in part, in the node's logs. */
function diskOf({ sizes }: SoakCase): number {
  return 1024 * MiB + 2.75 * sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * As many runs as are wanted, of those that show what this is for: another one takes the place of a complete one whose log the kubelet,
 * which looks every 10 s, has not rotated. No more than as many again.
 */
async function repeat(name: string, given: SoakCase): Promise<SoakRun[]> {
  const wanted = runsOf(given);
  const runs: SoakRun[] = [];
  let due = wanted;
  let spare = wanted;
  const worker = async (): Promise<void> => {
    while (due > 0) {
      due -= 1;
      // One that does not come to its end is not complete, and does not keep the others from being counted.
      const run = await soakOnce(given).catch(failed);
      if (given.via === 'log' && run.problem === undefined && run.rotations === 0) {
        console.log(`${name}: complete, not rotated and not counted, ${described(run)}`);
        due += Math.min(spare, 1);
        spare -= Math.min(spare, 1);
        continue;
      }
      runs.push(run);
      console.log(`${name} ${runs.length}/${wanted}: ${run.problem ?? 'complete'}, ${described(run)}`);
    }
  };
  await Promise.all(Array.from({ length: jobsOf(given) }, worker));
  return runs;
}

function failed(error: unknown): SoakRun {
  const problem = `it could not be run: ${error instanceof Error ? error.message : String(error)}`;
  return { problem, seconds: 0, cuts: 0, rotations: 0, travelled: 0, peak: 0 };
}

function described({ seconds, cuts, rotations, travelled, peak }: SoakRun): string {
  const more = `${cuts} cuts, ${rotations} rotations, ${travelled.toFixed(2)} bytes for each, peak ${(peak / MiB).toFixed(0)} MiB`;
  return `${seconds.toFixed(0)} s, ${more}`;
}

function line({ title }: SoakCase, runs: readonly SoakRun[]): string {
  const of = (pick: (run: SoakRun) => number): number[] => runs.map(pick);
  const complete = runs.filter(({ problem }) => problem === undefined).length;
  return [
    title.padEnd(32),
    `${complete}/${runs.length}`.padStart(10),
    median(of(({ seconds }) => seconds))
      .toFixed(0)
      .padStart(11),
    Math.max(...of(({ seconds }) => seconds))
      .toFixed(0)
      .padStart(12),
    String(of(({ cuts }) => cuts).reduce((sum, each) => sum + each, 0)).padStart(9),
    `${Math.min(...of(({ rotations }) => rotations))}-${Math.max(...of(({ rotations }) => rotations))}`.padStart(12),
    `${median(of(({ travelled }) => travelled)).toFixed(2)} x`.padStart(12),
    (Math.max(...of(({ peak }) => peak)) / MiB).toFixed(0).padStart(11),
  ].join('');
}
