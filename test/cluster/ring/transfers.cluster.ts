import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from '../case.js';
import { clusterCases } from '../cases.js';
import { makeUser, readmeRules } from '../user.js';

const OUT = '/cnab/app/outputs';
const LARGE_BYTES = 24 * 1024 * 1024;
/** The bundle says the digest of what it leaves. */
const LARGE = `head -c ${LARGE_BYTES} /dev/urandom > ${OUT}/large; sha256sum < ${OUT}/large`;

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

clusterCases('outputs that no small log carries', (one) => {
  it('that are sensitive come by exec with the Role of the README, and stand in no log and no record', async () => {
    const { kubeconfig } = await makeUser(one(), readmeRules(one().namespace));
    const script = `cd ${OUT}; { printf hush-; head -c 24 /dev/urandom | sha256sum; } > token; echo open > open`;
    const bundle = one().bundle({ script, outputs: ['open'], sensitive: ['token'] });
    const installed = await one().install(bundle, ['--keep-job'], { kubeconfig });
    assert.equal(installed.code, 0, installed.stderr);
    assert.equal((await one().output('open')).toString(), 'open\n');
    const token = (await one().output('token')).toString();
    assert.match(token, /^hush-[0-9a-f]{64} /);
    const logs = await logsOfContainers(one());
    assert.match(logs, / entry 0 /);
    // The digest of a short secret tells it to whoever tries all that are short.
    assert.ok(!logs.includes(sha256(Buffer.from(token))));
    for (const [where, text] of [
      ['the logs of the containers', logs],
      ['what the command said', installed.stderr + installed.stdout.toString()],
      ['the records', records(one(), ['claims', 'results', 'installations'])],
    ] as const) {
      for (const trace of tracesOf(token)) assert.ok(!text.includes(trace), `${where}: ${trace}`);
    }
  });

  it('that are sensitive are refused before anything is made where exec is not allowed, and come by the log where the user says so', async () => {
    const rules = readmeRules(one().namespace).filter(({ resources }) => resources?.[0] !== 'pods/exec');
    const { kubeconfig } = await makeUser(one(), rules);
    const bundle = one().bundle({ script: `echo hush > ${OUT}/token`, sensitive: ['token'] });
    const refused = await one().install(bundle, [], { kubeconfig });
    assert.notEqual(refused.code, 0);
    assert.equal(refused.document.ran, 'no');
    assert.match(refused.told, /"token"/);
    assert.match(refused.told, /pods\/exec/);
    await one().nothingIsLeft();
    const accepted = await one().install(bundle, ['--sensitive-outputs', 'log'], { kubeconfig });
    assert.equal(accepted.code, 0, accepted.stderr);
    assert.equal((await one().output('token')).toString(), 'hush\n');
  });

  it('of 24 MiB come by exec, and nothing of them through a log', async () => {
    const bundle = one().bundle({ script: LARGE, outputs: ['large'] });
    const installed = await one().install(bundle, ['--keep-job']);
    assert.equal(installed.code, 0, installed.stderr);
    await isWhole(one(), installed.stderr);
    assert.doesNotMatch(await logsOfContainers(one()), /^CNABO1 \S+ \d+ data /m);
  });

  it('of 24 MiB come by the log, which the kubelet rotates on the way, where exec is not to be used', async () => {
    const bundle = one().bundle({ script: LARGE, outputs: ['large'] });
    const installed = await one().install(bundle, ['--outputs-via', 'log']);
    assert.equal(installed.code, 0, installed.stderr);
    await isWhole(one(), installed.stderr);
    // The sidecar ends by its own schedule: three passes, with half a minute before the last.
    await one().nothingIsLeft(180);
  }).timeout(300_000);

  async function isWhole(here: Case, stderr: string): Promise<void> {
    const large = await here.output('large');
    assert.equal(large.length, LARGE_BYTES);
    assert.equal(sha256(large), /^([0-9a-f]{64}) {2}-$/m.exec(stderr)?.[1]);
  }
});

/** Everything that `kubectl logs` would show. */
async function logsOfContainers({ api, namespace }: Case): Promise<string> {
  const texts: string[] = [];
  for (const { metadata, spec } of await api.pods(namespace)) {
    for (const { name } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
      texts.push(await api.log(namespace, metadata?.name ?? '', name, 100_000));
    }
  }
  assert.notEqual(texts.length, 0);
  return texts.join('\n');
}

/** As it stands, and in base64 whatever comes before it. */
function tracesOf(secret: string): string[] {
  const encoded = [0, 1, 2].map((shift) => {
    const text = Buffer.from(`${'x'.repeat(shift)}${secret}`).toString('base64');
    return text.slice(4, text.length - 4);
  });
  return [secret.trim(), ...encoded];
}

function records({ home }: Case, folders: readonly string[]): string {
  const targets = join(home, 'cnab/targets');
  return readdirSync(targets)
    .flatMap((target) => folders.map((folder) => join(targets, target, folder)))
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}
