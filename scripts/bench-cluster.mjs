// How fast an install is on a real cluster, as ratios measured in one run (npm run bench:cluster):
//
//   1. `cnab install` of the example bundle hello against the shell script that a user would write for the same image,
//      and what of it no client can do without: the same Job from its creation to the bundle's end as the API server tells it
//   2. from the bundle's last log line to its output of 1 KiB being on disk
//   3. requests to the API server for one install, by its audit log
//
// A kubelet looks at its containers once a second, and runs that follow each other at once fall into step with it. So
// the runs of a series begin (1) or end (2) at ten different moments of that second.
//
// Starts a node (test/cluster/up) unless one is up, and removes the one that it has started. PAIRS: how many (10).
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, uptime } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const cluster = (name) => join(root, 'test/cluster', name);
const state = process.env.CNAB_CLUSTER_DIR ?? '/tmp/cnab-cluster';
const bin = process.env.CNAB_TEST_BIN ?? join(root, 'bin/run.js');

if (process.env.CNAB_BENCH_INSIDE === undefined) outside();
else inside();

function outside() {
  const wasUp = spawnSync(cluster('enter'), ['true'], { stdio: 'ignore' }).status === 0;
  if (!wasUp && spawnSync(cluster('up'), { stdio: 'inherit' }).status !== 0) process.exit(1);
  try {
    const env = { ...process.env, CNAB_BENCH_INSIDE: '1', CNAB_CLUSTER_DIR: state };
    const { status } = spawnSync(cluster('enter'), [process.execPath, fileURLToPath(import.meta.url)], {
      env,
      stdio: 'inherit',
    });
    process.exitCode = status ?? 1;
  } finally {
    if (!wasUp) spawnSync(cluster('down'), { stdio: 'inherit' });
  }
}

function inside() {
  const home = mkdtempSync(join(tmpdir(), 'cnab-bench-'));
  const namespace = `bench-${process.pid}`;
  kubectl('create', 'namespace', namespace);
  try {
    const user = makeUser(home, namespace, 'bench');
    // Another one, so that its requests do not count.
    const other = makeUser(home, namespace, 'floor');
    console.log(`${count()} pairs, ${new Date().toISOString().slice(0, 10)}, load ${loadAverage()}\n`);
    const wall = compareWallTime(home, namespace, user, other);
    const requests = countRequests(user);
    const tail = measureTail(home, user);
    report('cnab install hello', `${seconds(wall.cnab)} s`);
    report('kubectl script', `${seconds(wall.script)} s`);
    report('ratio', wall.ratio.toFixed(2), 'at most 0.42', wall.ratio <= 0.42);
    report('the same Job, any client', `${seconds(wall.floor)} s`);
    report('its ratio', wall.floorRatio.toFixed(2));
    report('last log line to output on disk', `${seconds(tail)} s`, 'under 0.80 s', tail < 800);
    report('API requests per install', String(requests), 'at most 20', requests <= 20);
  } finally {
    kubectl('delete', 'namespace', namespace, '--wait=false');
    rmSync(home, { recursive: true, force: true });
  }
}

function compareWallTime(home, namespace, user, other) {
  const script = userScript(home, namespace);
  const pairs = [];
  for (let pair = 0; pair < count() + 1; pair++) {
    pause(pair);
    const cnab = time(() => install(user, `hello-${pair}`, join(root, 'bundles/hello')));
    pause(pair);
    const plain = time(() => run('sh', [script, `plain-${pair}`], { env: { ...process.env, PATH: process.env.PATH } }));
    pause(pair);
    const floor = timeOfJobAlone(home, other, `floor-${pair}`);
    // The first pair fills caches on both sides.
    if (pair > 0) pairs.push({ cnab, plain, floor, ratio: cnab / plain, floorRatio: floor / plain });
  }
  const middle = (of) => median(pairs.map(of));
  return {
    cnab: middle(({ cnab }) => cnab),
    script: middle(({ plain }) => plain),
    ratio: middle(({ ratio }) => ratio),
    floor: middle(({ floor }) => floor),
    floorRatio: middle(({ floorRatio }) => floorRatio),
  };
}

/** Milliseconds from the creation of the Job that an install would create to the bundle's end. */
function timeOfJobAlone(home, user, name) {
  const { objects } = JSON.parse(install(user, name, join(root, 'bundles/hello'), ['--quiet', '--dry-run']).stdout);
  const file = join(home, 'objects.json');
  writeFileSync(file, JSON.stringify(objects));
  const script = fileURLToPath(new URL('bench-cluster-floor.mjs', import.meta.url));
  return Number(run(process.execPath, [script, user.kubeconfig, file]).stdout);
}

/** What somebody writes who has no tool for it: the same image as a Job, waited for, its log shown, deleted. */
function userScript(home, namespace) {
  const kube = readFileSync(join(state, 'kube'), 'utf8').trim();
  const file = join(home, 'script');
  writeFileSync(
    file,
    `set -e
kubectl() { ${kube} kubectl -n ${namespace} "$@"; }
kubectl apply -f - <<JOB
apiVersion: batch/v1
kind: Job
metadata: { name: $1 }
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: hello
          image: registry.example/hello:0.1.0
          command: [/cnab/app/run]
          env:
            - { name: CNAB_ACTION, value: install }
            - { name: CNAB_INSTALLATION_NAME, value: $1 }
            - { name: GREETING, value: Hello }
            - { name: WHO, value: world }
          volumeMounts: [{ name: outputs, mountPath: /cnab/app/outputs }]
      volumes: [{ name: outputs, emptyDir: {} }]
JOB
kubectl wait --for=condition=complete --timeout=60s job/$1
kubectl logs job/$1
kubectl delete job $1 --wait=false
`,
  );
  return file;
}

/** Median of the requests that one install of hello makes; a watch is one. */
function countRequests(user) {
  const mine = readFileSync(join(state, 'log/audit.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes(user.username))
    .map((line) => JSON.parse(line));
  const ids = new Set(mine.map(({ auditID }) => auditID));
  return Math.round(ids.size / (count() + 1));
}

/** The bundle says when it ends; the file system, when the output appeared in the record. */
function measureTail(home, user) {
  const bundle = join(home, 'tail');
  mkdirSync(bundle);
  const script = `head -c 1024 /dev/urandom > /cnab/app/outputs/out
sleep "1.\${CNAB_INSTALLATION_NAME##*-}"; read now _ < /proc/uptime; echo "up $now"`;
  writeFileSync(
    join(bundle, 'bundle.json'),
    JSON.stringify({
      schemaVersion: 'v1.2.0',
      name: 'tail',
      version: '1.0.0',
      invocationImages: [{ imageType: 'oci', image: 'registry.test:5000/tool:1' }],
      definitions: { script: { type: 'string', default: script }, bytes: { type: 'string' } },
      parameters: { script: { definition: 'script', destination: { env: 'SCRIPT' } } },
      outputs: { out: { definition: 'bytes', path: '/cnab/app/outputs/out' } },
    }),
  );
  const booted = Date.now() - uptime() * 1000;
  const times = Array.from({ length: count() }, (_, index) => {
    const { stderr } = install(user, `tail-${Math.floor(index / 10)}-${index % 10}`, bundle, []);
    const said = Number(/^up (\d+\.\d+)$/m.exec(stderr)?.[1]) * 1000 + booted;
    return newestOutput(join(home, 'cnab/targets')) - said;
  });
  return median(times);
}

function newestOutput(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /-out$/.test(entry.name))
    .map((entry) => statSync(join(entry.parentPath ?? entry.path, entry.name)).ctimeMs);
  return Math.max(...files);
}

function install(user, name, bundle, more = ['--quiet']) {
  return run(process.execPath, [bin, 'install', name, bundle, '--json', ...more], {
    env: { PATH: process.env.PATH, HOME: user.home, CNAB_HOME: join(user.home, 'cnab'), KUBECONFIG: user.kubeconfig },
  });
}

/** With the rights of the README's Role, and a name of its own in the audit log. */
function makeUser(home, namespace, name) {
  const role = /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1] ?? '';
  kubectl('create', 'serviceaccount', name, '-n', namespace);
  run(cluster('kubectl'), ['apply', '-f', '-'], { input: role.replaceAll('NAMESPACE', namespace) });
  const binding = ['--role=cnab', `--serviceaccount=${namespace}:${name}`];
  kubectl('create', 'rolebinding', name, '-n', namespace, ...binding);
  const token = kubectl('create', 'token', name, '-n', namespace).trim();
  const config = JSON.parse(kubectl('config', 'view', '--raw', '-o', 'json'));
  const kubeconfig = join(home, `kubeconfig-${name}`);
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      ...config,
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: config.clusters[0].name, user: name, namespace } }],
      'current-context': name,
    }),
  );
  return { home, kubeconfig, username: `system:serviceaccount:${namespace}:${name}` };
}

function kubectl(...args) {
  return run(cluster('kubectl'), args).stdout;
}

function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${status}\n${stderr}`);
  return { stdout, stderr };
}

function time(action) {
  const began = performance.now();
  action();
  return performance.now() - began;
}

/** A tenth of a second more for each pair, over and over. */
function pause(pair) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, (pair % 10) * 100);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

function report(what, figure, limit, holds) {
  const verdict = limit === undefined ? '' : `   ${limit}: ${holds ? 'holds' : 'MISSED'}`;
  console.log(`${what.padEnd(34)}${figure.padStart(8)}${verdict}`);
}

function count() {
  return Number(process.env.PAIRS ?? 10);
}

function seconds(ms) {
  return (ms / 1000).toFixed(2);
}

function loadAverage() {
  return execFileSync('cut', ['-d', ' ', '-f', '1', '/proc/loadavg'], { encoding: 'utf8' }).trim();
}
