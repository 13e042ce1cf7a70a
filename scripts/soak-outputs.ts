// Outputs above small over bad lines, again and again, on a real node whose kubelet rotates logs at 10 MiB (npm run soak:outputs).
// Every byte of every run has to come, or the exit code is 1. Not part of npm test: all of it takes more than an hour.
//
//   --runs N     of each case (default 20; of the case exec-cuts 3)
//   --only CASE  log, log-cuts, log-slow or exec-cuts
//   --jobs N     runs at a time (default 1)
//
// A node that is up is used: CNAB_CLUSTER_DIR. Needs 12 GiB of disk for each run at a time.
import { statfsSync } from 'node:fs';
import { MiB, median, option } from './on-node/figures.js';
import { onNode } from './on-node/inside.js';
import { soakOnce, type SoakCase, type SoakRun } from './soak-outputs/one-run.js';

const CUTS = { cutAfterSeconds: { from: 1, to: 5 } };
const LARGE = [100 * MiB, 100 * MiB + 1, 56 * MiB - 1];

const cases: Readonly<Record<string, SoakCase>> = {
  log: { title: '256 MiB in 3 files by the log', runs: 20, sizes: LARGE, via: 'log', line: {} },
  'log-cuts': { title: 'the same, cut every 1-5 s', runs: 20, sizes: LARGE, via: 'log', line: CUTS },
  'log-slow': {
    title: '96 MiB by the log, at 5 MB/s',
    runs: 20,
    sizes: [96 * MiB],
    via: 'log',
    line: { bytesPerSecond: 5_000_000 },
  },
  'exec-cuts': {
    title: '4 GiB by exec, cut every 1-5 s',
    runs: 3,
    sizes: Array.from({ length: 4 }, () => 1024 * MiB),
    via: 'exec',
    line: CUTS,
  },
};

const HEAD =
  'case                              complete   median s   longest s     cuts   rotations   travelled   peak MiB';

await onNode(import.meta.url, async () => {
  const { bavail, bsize } = statfsSync(process.env['CNAB_CLUSTER_DIR'] ?? '/');
  const jobs = Number(option('jobs') ?? 1);
  if (bavail * bsize < jobs * 12 * 1024 * MiB) {
    console.error(
      `not enough disk: ${Math.floor((bavail * bsize) / MiB)} MiB free, 12 GiB needed for each run at a time`,
    );
    return false;
  }
  const only = option('only');
  const chosen = Object.entries(cases).filter(([name]) => only === undefined || only === name);
  if (chosen.length === 0) throw new Error(`there is no case ${only}`);
  const lines: string[] = [];
  let complete = true;
  for (const [name, given] of chosen) {
    const runs = await repeat(name, given, jobs);
    complete &&= runs.every(({ problem }) => problem === undefined);
    lines.push(line(given, runs));
  }
  console.log(`\n${HEAD}\n${lines.join('\n')}`);
  return complete;
});

async function repeat(name: string, given: SoakCase, jobs: number): Promise<SoakRun[]> {
  const wanted = Number(option('runs') ?? given.runs);
  const runs: SoakRun[] = [];
  let begun = 0;
  const worker = async (): Promise<void> => {
    while (begun < wanted) {
      begun += 1;
      const run = await soakOnce(given);
      // A log that was not rotated would not show what this is for.
      const still = given.via === 'log' && run.rotations === 0 ? 'its log was not rotated' : undefined;
      const problem = run.problem ?? still;
      runs.push({ ...run, ...(problem === undefined ? {} : { problem }) });
      console.log(`${name} ${runs.length}/${wanted}: ${problem ?? 'complete'}, ${described(run)}`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return runs;
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
