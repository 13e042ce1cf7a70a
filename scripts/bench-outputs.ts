// How fast outputs come, and what memory that takes, as ratios measured in one run in turns on a real node
// (npm run bench:outputs):
//
//   exec    1 GiB of random bytes by exec against `kubectl cp` of such a file from a waiting pod, which checks nothing
//   log     256 MiB of random bytes by the log against a container's own `base64 -w 12288 file`, read by `kubectl logs -f`
//   many    200 files of 64 KiB by exec against `kubectl exec … tar` of such a folder
//   memory  the most that the command had in memory when 1 GiB came, by exec (from `exec`) and by the log
//
// "transfer" begins with the first request for an output, by the log with the manifest, and ends with the last write to an
// output that is proven; "recorded" ends with the last output in the record. "whole" begins with the invocation's last act and ends
// with the command: the digests that the pod makes before the manifest, the kubelet's second, and all settling are in it.
// Speeds count the files' bytes, before base64.
//
// --rounds N (3; of `many` three times as many), --only CASE. A node that is up is used: CNAB_CLUSTER_DIR.
import { Case } from '../test/cluster/case.js';
import { copyFile, copyFolder, followLog, startPod } from './bench-outputs/baselines.js';
import { measureInstall, type Install, type InstallTimes } from './bench-outputs/product.js';
import { median, MiB, option, rate } from './on-node/figures.js';
import { onNode } from './on-node/inside.js';
import { loadavg } from 'node:os';

const ROUNDS = Number(option('rounds') ?? 3);
const GIB = 1024 * MiB;
const LOG_BYTES = 256 * MiB;
const MANY = Array.from({ length: 200 }, (_, index) => `file-${index}`);
const MANY_BYTES = MANY.length * 65_536;
const MEMORY_LIMIT = 150 * MiB;

const EXEC: Install = { script: random('big', GIB), outputs: ['big'], via: 'exec', bytes: GIB };
const LOG: Install = { script: random('mid', LOG_BYTES), outputs: ['mid'], via: 'log', bytes: LOG_BYTES };
const FILES: Install = {
  script: MANY.map((name) => random(name, 65_536)).join('; '),
  outputs: MANY,
  via: 'exec',
  bytes: MANY_BYTES,
};
const LARGE_LOG: Install = { ...EXEC, via: 'log', flags: ['--max-log-outputs', '1GiB'] };

const cases: Readonly<Record<string, (one: Case) => Promise<boolean>>> = { exec, log, many, memory };

await onNode(import.meta.url, async () => {
  const only = option('only');
  const one = await Case.open();
  try {
    let holds = true;
    for (const [name, measure] of Object.entries(cases)) {
      if (only !== undefined && only !== name) continue;
      console.log(`\n${name}: load ${loadavg()[0]?.toFixed(1)}`);
      holds = (await measure(one)) && holds;
    }
    return holds;
  } catch (error) {
    console.error(await one.report());
    throw error;
  } finally {
    await one.close();
  }
});

async function exec(one: Case): Promise<boolean> {
  await startPod(one, 'source', `${random('/out/big', GIB)}; : > /out/ready; exec sleep 86400`);
  const pairs: { copied: number; ours: InstallTimes }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const copied = await copyFile(one, '/out/big', GIB);
    const ours = await measureInstall(one, EXEC);
    console.log(`  kubectl cp ${rate(GIB, copied)}, ${described(ours, GIB)}`);
    pairs.push({ copied, ours });
  }
  await stopSource(one);
  const speed = compare(
    '1 GiB by exec, against kubectl cp',
    1,
    pairs.map(({ copied, ours }) => copied / ours.transfer),
  );
  const peak = within('peak memory, 1 GiB by exec', Math.max(...pairs.map(({ ours }) => ours.peak)));
  return speed && peak;
}

async function log(one: Case): Promise<boolean> {
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const followed = await followLog(one, round, LOG_BYTES);
    const ours = await measureInstall(one, LOG);
    const lost = followed.lost === 0 ? '' : ` (${followed.lost} bytes lost)`;
    console.log(`  kubectl logs -f ${rate(LOG_BYTES, followed.ms)}${lost}, ${described(ours, LOG_BYTES)}`);
    ratios.push(followed.ms / ours.transfer);
  }
  return compare('256 MiB by the log, against base64 and kubectl logs -f', 0.8, ratios);
}

async function many(one: Case): Promise<boolean> {
  const files = MANY.map((name) => random(`/out/many/${name}`, 65_536)).join('; ');
  await startPod(one, 'source', `mkdir /out/many; ${files}; : > /out/ready; exec sleep 86400`);
  const pairs: { request: number; command: number; ours: InstallTimes }[] = [];
  for (let round = 0; round < ROUNDS * 3; round++) {
    const { request, command } = await copyFolder(one, '/out/many');
    const ours = await measureInstall(one, FILES);
    console.log(
      `  kubectl exec tar ${command.toFixed(0)} ms, ${request.toFixed(0)} ms of them from its request on, ${described(ours, MANY_BYTES)}`,
    );
    pairs.push({ request, command, ours });
  }
  await stopSource(one);
  const against = 'against kubectl exec tar';
  compare(
    `200 files by exec, ${against} without its start`,
    undefined,
    pairs.map(({ request, ours }) => request / ours.transfer),
  );
  return compare(
    `200 files by exec, ${against}`,
    0.7,
    pairs.map(({ command, ours }) => command / ours.transfer),
  );
}

async function memory(one: Case): Promise<boolean> {
  const ours = await measureInstall(one, LARGE_LOG);
  console.log(`  ${described(ours, GIB)}`);
  return within('peak memory, 1 GiB by the log', ours.peak);
}

async function stopSource(one: Case): Promise<void> {
  await one.api.remove(`/api/v1/namespaces/${one.namespace}/pods/source`);
  await one.nothingIsLeft(60);
}

function random(file: string, bytes: number): string {
  return `head -c ${bytes} /dev/urandom > ${file}`;
}

function described({ transfer, recorded, whole, peak }: InstallTimes, bytes: number): string {
  const times = `${transfer.toFixed(0)} ms, recorded ${recorded.toFixed(0)} ms, whole ${whole.toFixed(0)} ms`;
  return `cnab ${rate(bytes, transfer)} (transfer ${times}), peak ${(peak / MiB).toFixed(0)} MiB`;
}

function compare(what: string, least: number | undefined, ratios: readonly number[]): boolean {
  const ratio = median(ratios);
  const all = [...ratios].sort((a, b) => a - b).map((each) => each.toFixed(2));
  return report(
    what,
    ratio.toFixed(2),
    least === undefined ? undefined : [`at least ${least}`, ratio >= least],
    ` (${all.join(' ')})`,
  );
}

function within(what: string, bytes: number): boolean {
  return report(what, `${(bytes / MiB).toFixed(0)} MiB`, ['under 150 MiB', bytes < MEMORY_LIMIT]);
}

function report(what: string, figure: string, limit?: readonly [string, boolean], more = ''): boolean {
  const verdict = limit === undefined ? '' : `   ${limit[0]}: ${limit[1] ? 'holds' : 'MISSED'}`;
  console.log(`${what.padEnd(62)}${figure.padStart(9)}${verdict}${more}`);
  return limit?.[1] ?? true;
}
