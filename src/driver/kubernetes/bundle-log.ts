type OnLog = (chunk: Uint8Array) => void | Promise<void>;

const NEWLINE = 10;

/** The bundle's own log on its way out, with a line of ours where a part of it is or may be missing. */
export class BundleLog {
  readonly #onLog: OnLog;
  #midLine = false;

  constructor(onLog: OnLog) {
    this.#onLog = onLog;
  }

  readonly write: OnLog = (chunk) => {
    if (chunk.length > 0) this.#midLine = chunk[chunk.length - 1] !== NEWLINE;
    return this.#onLog(chunk);
  };

  /** `reason`: one clause. */
  async mark(reason: string): Promise<void> {
    await this.write(
      Buffer.from(`${this.#midLine ? '\n' : ''}[cnab: a part of the log may be missing here: ${reason}]\n`),
    );
  }
}
