import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bundle } from '../../src/bundle/bundle.js';
import type { ClaimStore } from '../../src/claim/claim-store.js';
import { CUSTOM_KEY, LOGS_OUTPUT, type Status } from '../../src/claim/claim.js';
import { createClaimStore } from '../../src/claim/store.js';
import type { Target } from '../../src/claim/target.js';
import { systemClock } from '../../src/driver/clock.js';

/** A bundle with outputs of every kind, as records hold it. */
export const RECORDED_BUNDLE: Bundle = {
  schemaVersion: 'v1.2.0',
  name: 'demo',
  version: '1.0.0',
  invocationImages: [{ image: 'example.test/demo:1.0.0' }],
  definitions: {
    text: { type: 'string' },
    number: { type: 'integer' },
    secret: { type: 'string', writeOnly: true },
    anything: {},
  },
  parameters: {
    greeting: { definition: 'text', destination: { env: 'GREETING' } },
    token: { definition: 'secret', destination: { env: 'TOKEN' } },
  },
  outputs: {
    url: { definition: 'text', path: '/cnab/app/outputs/url' },
    count: { definition: 'number', path: '/cnab/app/outputs/count' },
    password: { definition: 'secret', path: '/cnab/app/outputs/password' },
    blob: { definition: 'anything', path: '/cnab/app/outputs/blob' },
  },
};

export const SANDBOX: Target = { id: 'sandbox', driver: 'sandbox', label: 'sandbox' };
export const PROD: Target = {
  id: 'kubernetes-prod',
  driver: 'kubernetes',
  label: 'prod/payments',
  context: 'prod',
  server: 'https://10.0.0.1:6443',
  namespace: 'payments',
  uid: 'prod',
};

export interface RecordedRun {
  readonly name: string;
  readonly target?: Target;
  readonly action?: string;
  readonly status?: Status;
  readonly exitCode?: number;
  readonly message?: string;
  readonly outputs?: Readonly<Record<string, string | Uint8Array>>;
  readonly log?: string | Uint8Array;
  readonly bundle?: Bundle;
}

export function storeAt(home: string): ClaimStore {
  return createClaimStore({ home, clock: systemClock, pid: process.pid, isAlive: () => true });
}

/** Writes one run of an installation through the real store, as an action does. Resolves with the run's id. */
export async function recordRun(home: string, run: RecordedRun): Promise<string> {
  const { name, action = 'install', status = 'succeeded', exitCode = 0, bundle = RECORDED_BUNDLE } = run;
  const claims = storeAt(home).on(run.target ?? PROD);
  const id = await claims.nextId(name);
  const created = new Date().toISOString();
  const revision = ['install', 'upgrade', 'uninstall'].includes(action) ? id : 'none';
  const parameters = { greeting: 'hello', token: 'the secret of a parameter' };
  await claims.saveClaim({
    schemaVersion: '1.0.0',
    id,
    installation: name,
    revision,
    created,
    action,
    bundle,
    parameters,
  });
  const folder = await claims.openRun(id, { installation: name, purpose: action });
  const all = { ...run.outputs, ...(run.log === undefined ? {} : { [LOGS_OUTPUT]: run.log }) };
  const files = await Promise.all(
    Object.entries(all).map(async ([output, content], index) => {
      const file = join(folder.staging, String(index));
      await writeFile(file, content);
      return { name: output, file, digest: createHash('sha256').update(content).digest('hex') };
    }),
  );
  const outputs = Object.fromEntries(
    files.map(({ name: output, digest }) => [
      output,
      { contentDigest: `sha256:${digest}`, generatedByBundle: String(output !== LOGS_OUTPUT) },
    ]),
  );
  const result = {
    id: await claims.nextId(name),
    claimId: id,
    created,
    status,
    ...(run.message === undefined ? {} : { message: run.message }),
    outputs,
    custom: { [CUSTOM_KEY]: { ran: 'yes', exitCode, logComplete: true } },
  };
  await claims.saveResult(name, result, files);
  await folder.remove();
  await folder.close();
  return id;
}
