import { CnabError } from '../errors.js';

/** What a step is refused with, as a warning; none when it succeeds. Rejects with what is no CnabError. */
export async function asWarning(step: () => Promise<void>): Promise<readonly string[]> {
  try {
    await step();
    return [];
  } catch (error) {
    if (!(error instanceof CnabError)) throw error;
    return [error.message.replace(/\.?$/u, '.')];
  }
}
