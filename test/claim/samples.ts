import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bundle } from '../../src/bundle/bundle.js';
import type { Claim, Result, Status } from '../../src/claim/claim.js';
import type { ClaimStore } from '../../src/claim/claim-store.js';
import { isAliveBy } from '../../src/claim/owner.js';
import { createClaimStore } from '../../src/claim/store.js';
import type { Target } from '../../src/claim/target.js';

export const TARGET: Target = { id: 'sandbox', driver: 'sandbox', label: 'sandbox' };
/** For whom runs are opened. */
export const USE = { installation: 'app', purpose: 'test' };
export const NOW = Date.parse('2026-03-01T12:00:00Z');

export const BUNDLE: Bundle = {
  schemaVersion: '1.2.0',
  name: 'hello',
  version: '0.1.0',
  invocationImages: [{ image: 'example.com/hello:0.1.0' }],
  definitions: { text: { type: 'string' }, secret: { type: 'string', writeOnly: true } },
  outputs: {
    greeting: { definition: 'text', path: '/cnab/app/outputs/greeting' },
    key: { definition: 'secret', path: '/cnab/app/outputs/key' },
  },
  actions: { logs: {}, migrate: { modifies: true } },
};

/** A folder of the test's own, without symbolic links in its path (macOS's /tmp is one). */
export async function tempFolder(): Promise<string> {
  return await realpath(await mkdtemp(join(tmpdir(), 'cnab-claims-')));
}

export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** Real time only where `sleep` is given: for processes that race. */
export function storeIn(
  home: string,
  now: () => number = () => NOW,
  sleep: (ms: number) => Promise<void> = () => Promise.resolve(),
): ClaimStore {
  return createClaimStore({
    home,
    pid: process.pid,
    isAlive: isAliveBy((pid, signal) => process.kill(pid, signal)),
    clock: { now, sleep },
  });
}

export function claim(id: string, action = 'install', more: Partial<Claim> = {}): Claim {
  return {
    schemaVersion: '1.0.0',
    id,
    installation: 'app',
    revision: id,
    created: new Date(NOW).toISOString(),
    action,
    bundle: BUNDLE,
    ...more,
  };
}

export function result(id: string, claimId: string, status: Status, more: Partial<Result> = {}): Result {
  return { id, claimId, created: new Date(NOW).toISOString(), status, ...more };
}

/** A ULID-like id that sorts by `n`. */
export function idOf(n: number): string {
  return `01ARZ3NDEKTSV4RRFFQ69G${String(n).padStart(4, '0')}`;
}
