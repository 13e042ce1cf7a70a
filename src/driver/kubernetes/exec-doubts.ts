import type { Assembler } from '../../frame/assemble.js';
import { BLOCK_BYTES } from '../../frame/grammar.js';
import type { FileRange } from '../../frame/incoming-file.js';
import type { KubernetesApi } from './api.js';
import { askForDigest } from './exec-verbs.js';
import type { LogSource } from './log-request.js';

/** What is so small comes again as a whole: an exec for each half of it takes longer. */
const SMALL_BYTES = 8 * BLOCK_BYTES;
const PIECES = 4;

/**
 * Lets every part of a doubtful range come again that is not on disk as it is in the pod. False: nothing differs, so the
 * file is not what the manifest says in the pod either. Rejects as `askForDigest` does.
 */
export async function dropDifference(
  api: KubernetesApi,
  source: LogSource,
  assembler: Assembler,
  range: FileRange,
  signal: AbortSignal,
): Promise<boolean> {
  const { index, offset, length } = range;
  const here = await assembler.digestOf(range);
  if (here === undefined) return false;
  const there = await askForDigest(api, source, { verb: 'digest', index, offset, length }, signal);
  if (there.trimEnd() === here) return false;
  if (length <= SMALL_BYTES) {
    await assembler.drop(range);
    return true;
  }
  let differs = false;
  for (const piece of piecesOf(range)) {
    if (await dropDifference(api, source, assembler, piece, signal)) differs = true;
  }
  // What differs as a whole and in no part was written to in between: all of it comes again.
  if (!differs) await assembler.drop(range);
  return true;
}

function piecesOf({ index, offset, length }: FileRange): readonly FileRange[] {
  const step = Math.ceil(length / PIECES / BLOCK_BYTES) * BLOCK_BYTES;
  return Array.from({ length: Math.ceil(length / step) }, (_, piece) => {
    const from = offset + piece * step;
    return { index, offset: from, length: Math.min(step, offset + length - from) };
  });
}
