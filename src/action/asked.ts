import type { StopReason } from '../driver/driver.js';
import { CnabError } from '../errors.js';

/** What a driver answers. Where a stop cuts the answer short it rejects with CnabError `interrupted` or `timed-out`. */
export async function asked<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CnabError || !signal.aborted) throw error;
    const { kind } = signal.reason as Partial<StopReason>;
    throw new CnabError(
      kind === 'timeout' ? 'timed-out' : 'interrupted',
      'this was stopped before anything was done.',
      {
        cause: error,
      },
    );
  }
}
