import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from '../../test/cluster/case.js';
import type { AuditEntry } from '../../test/cluster/node.js';

export interface TimedAuditEntry extends AuditEntry {
  readonly auditID: string;
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  /** RFC 3339 with microseconds. */
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

/** Reads what the node's API server has been asked from now on, in the namespace of the case. */
export function auditFromNow(one: Case): () => readonly TimedAuditEntry[] {
  const file = join(process.env['CNAB_CLUSTER_DIR'] ?? '', 'log/audit.log');
  const from = statSync(file).size;
  return () => {
    const descriptor = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - from));
      readSync(descriptor, bytes, 0, bytes.length, from);
      return bytes
        .toString()
        .split('\n')
        .filter((line) => line.endsWith('}') && line.includes(one.namespace))
        .map((line) => JSON.parse(line) as TimedAuditEntry)
        .filter(({ objectRef }) => objectRef?.namespace === one.namespace);
    } finally {
      closeSync(descriptor);
    }
  };
}

/** When the first exec of the sidecar with one of these verbs (`files|range`) came in; milliseconds since 1970. */
export function firstExec(entries: readonly TimedAuditEntry[], verbs: string): number | undefined {
  const command = new RegExp(`command=(${verbs})(&|$)`);
  const asked = entries
    .filter(({ objectRef, requestURI }) => objectRef?.subresource === 'exec' && command.test(requestURI))
    .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp));
  return asked.length === 0 ? undefined : Math.min(...asked);
}
