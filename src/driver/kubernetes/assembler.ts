import { statfs } from 'node:fs/promises';
import { Assembler } from '../../frame/assemble.js';
import type { BegunRun } from '../driver.js';
import type { JobFacts } from './job-facts.js';
import { withAdvice } from './way.js';

/** The assembler of a run; goes on from what is in `staging`. Rejects with CnabError `unavailable` when the disk fails. */
export function openAssembler(
  { runId, outputs }: Pick<BegunRun, 'runId' | 'outputs'>,
  { limits, way }: JobFacts,
  staging: string,
): Promise<Assembler> {
  return Assembler.open({
    runId,
    wanted: outputs.length,
    staging,
    limits: withAdvice(limits, way),
    freeBytes: async () => {
      const { bavail, bsize } = await statfs(staging);
      return bavail * bsize;
    },
  });
}
