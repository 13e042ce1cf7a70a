import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CUSTOM_KEY, LOGS_OUTPUT, type Result } from '../../src/claim/claim.js';
import { storeAt } from '../helpers/recorded-installation.js';

/** How a run stands in the records of a home; two runs are equal when these are. */
export interface EndState {
  readonly status: string;
  readonly ran: string;
  readonly exitCode?: number;
  /** sha256 by name, of the bytes on disk. */
  readonly outputs: Readonly<Record<string, string>>;
  /** The bundle's log; absent: none is recorded. */
  readonly log?: string;
}

/**
 * Of the one run of an installation; undefined where the home knows nothing of it. Rejects where an output that a result names is
 * not there, or not what its digest says.
 */
export async function endStateOf(home: string, installation: string): Promise<EndState | undefined> {
  const store = storeAt(join(home, 'cnab'));
  const [target, ...others] = await store.targetsOf(installation);
  if (target === undefined) return undefined;
  const claims = store.on(target);
  const records = (await claims.read(installation))?.records ?? [];
  const [record, ...more] = records;
  if (others.length > 0 || more.length > 0) throw new Error(`${installation} has several records`);
  const last = record?.results.at(-1);
  if (record === undefined || last === undefined) return { status: 'none', ran: 'no', outputs: {} };
  const outputs: Record<string, string> = {};
  let log: string | undefined;
  for (const result of record.results) {
    for (const [name, { contentDigest }] of Object.entries(result.outputs ?? {})) {
      const stored = await claims.output(result.id, name);
      if (stored === undefined) throw new Error(`${name} is recorded and not there`);
      const bytes = await readFile(stored.file);
      const digest = createHash('sha256').update(bytes).digest('hex');
      if (contentDigest !== `sha256:${digest}`)
        throw new Error(`${name} of result ${result.id} has the digest ${contentDigest}, and is ${digest}`);
      if (name === LOGS_OUTPUT) log = bytes.toString();
      else outputs[name] = digest;
    }
  }
  const { ran, exitCode } = customOf(last);
  return {
    status: last.status,
    ran,
    ...(exitCode === undefined ? {} : { exitCode }),
    outputs,
    ...(log === undefined ? {} : { log }),
  };
}

function customOf(result: Result): { ran: string; exitCode?: number } {
  const custom = result.custom as Record<string, { ran?: string; exitCode?: number }> | undefined;
  const { ran = 'unknown', exitCode } = custom?.[CUSTOM_KEY] ?? {};
  return { ran, ...(exitCode === undefined ? {} : { exitCode }) };
}
