import vm from 'node:vm';

/** Work that was stopped because it took too long. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
}

/**
 * Runs synchronous work and stops it when it takes longer than `milliseconds`. A pattern of a bundle's definition can
 * keep the regular expression engine busy for ever (`^(a+)+$`), and only the engine's own interrupt ends that:
 * `vm` raises it, and it reaches ordinary code that is called from within (measured on Node 20: ends on time, 0.5 ms overhead).
 *
 * @throws TimeLimitError; everything that the work throws passes through.
 */
export function withinTime<T>(milliseconds: number, work: () => T): T {
  try {
    return vm.runInNewContext('work()', { work }, { timeout: Math.max(1, Math.ceil(milliseconds)) }) as T;
  } catch (thrown) {
    if ((thrown as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new TimeLimitError(`took longer than ${milliseconds} ms`, { cause: thrown });
    }
    throw thrown;
  }
}

/** Time for checks by a bundle's definitions: what each may take, and what all of them may take together. Milliseconds. */
export class CheckTime {
  #left: number;

  constructor(
    private readonly each: number,
    all: number = each,
  ) {
    this.#left = all;
  }

  /** @throws TimeLimitError, also without a try when nothing is left; everything that the work throws passes through. */
  spend<T>(work: () => T): T {
    const limit = Math.min(this.each, this.#left);
    if (limit <= 0) throw new TimeLimitError('the checks before took all the time');
    const start = performance.now();
    try {
      return withinTime(limit, work);
    } finally {
      this.#left -= performance.now() - start;
    }
  }
}
