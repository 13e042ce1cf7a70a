import { statfs } from 'node:fs/promises';
import { Assembler } from '../../frame/assemble.js';
import type { BegunRun } from '../driver.js';
import type { JobFacts } from './job-facts.js';
import { withAdvice } from './way.js';

/** Bytes that the file system of a folder can take. */
export type FreeBytes = (folder: string) => Promise<number>;

export const freeBytesOf: FreeBytes = async (folder) => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** The assembler of a run; goes on from what is in `staging`. Rejects with CnabError `unavailable` when the disk fails. */
export function openAssembler(
  { runId, outputs }: Pick<BegunRun, 'runId' | 'outputs'>,
  { limits, way }: JobFacts,
  staging: string,
  freeBytes: FreeBytes,
): Promise<Assembler> {
  return Assembler.open({
    runId,
    wanted: outputs.length,
    staging,
    limits: withAdvice(limits, way),
    freeBytes: () => freeBytes(staging),
  });
}
