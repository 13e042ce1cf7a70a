import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../clock.js';
import { CriEncoder, type StreamName } from './cri-log.js';

/**
 * One start of a container: its log file `<folder>/<attempt>.log`, written by the runtime's output and turned over
 * by the kubelet. Readers wait on it for more.
 */
export class ContainerLog {
  readonly path: string;
  /** Grows by one at each rotation, so that a reader sees that its file is no longer the current one. */
  generation = 0;
  readonly #over = new AbortController();
  #file: number;
  #size = 0;
  #lastStamp = '';
  #sequence = 0;
  #rotations = 0;
  readonly #encoders: Readonly<Record<StreamName, CriEncoder>>;
  #waiting: (() => void)[] = [];

  constructor(
    private readonly folder: string,
    private readonly attempt: number,
    private readonly clock: Clock,
  ) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.path = join(folder, `${attempt}.log`);
    this.#file = openSync(this.path, 'a', 0o600);
    const stamp = (): string => this.#stamp();
    this.#encoders = { stdout: new CriEncoder('stdout', stamp), stderr: new CriEncoder('stderr', stamp) };
  }

  /** The container has ended: nothing is written any more. */
  get ended(): boolean {
    return this.#over.signal.aborted;
  }

  /** Bytes in the current file. */
  get size(): number {
    return this.#size;
  }

  write(stream: StreamName, chunk: Uint8Array): void {
    if (!this.ended) this.#append(this.#encoders[stream].write(chunk));
  }

  /** The container has ended: what is left of its last lines is written, readers come to their end. */
  end(): void {
    if (this.ended) return;
    this.#append(this.#encoders.stdout.end());
    this.#append(this.#encoders.stderr.end());
    closeSync(this.#file);
    this.#over.abort();
    this.#wake();
  }

  /**
   * Renames the file and begins a new one, as the kubelet does with a log above containerLogMaxSize. At most `keep`
   * files stay. A partial line stays with the runtime and goes to the new file. Nothing happens after the end.
   */
  rotate(keep = 5): void {
    if (this.ended) return;
    fsyncSync(this.#file);
    closeSync(this.#file);
    const time = new Date(this.clock.now()).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
    this.#rotations += 1;
    renameSync(this.path, `${this.path}.${time}.${String(this.#rotations).padStart(6, '0')}`);
    this.#file = openSync(this.path, 'a', 0o600);
    this.#size = 0;
    this.generation += 1;
    const old = readdirSync(this.folder).filter((name) => name.startsWith(`${this.attempt}.log.`));
    for (const name of old.sort().slice(0, Math.max(0, old.length - keep + 1))) rmSync(join(this.folder, name));
    this.#wake();
  }

  /**
   * Rotates whenever the file has `maxBytes` and `pauseMs` have passed since: the kubelet looks only every 10 seconds, so
   * a file can be far larger. Resolves when the container has ended.
   */
  async rotateAt(maxBytes: number, pauseMs: number, keep: number): Promise<void> {
    const { signal } = this.#over;
    while (!this.ended) {
      if (this.#size < maxBytes) await this.changed(signal);
      else
        await this.clock.sleep(pauseMs, signal).then(
          () => this.rotate(keep),
          () => undefined,
        );
    }
  }

  /** Resolves at the next write, rotation or end, and when `signal` is aborted. */
  changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      signal.addEventListener('abort', done, { once: true });
      this.#waiting.push(done);
    });
  }

  #append(records: Buffer): void {
    if (records.length === 0) return;
    try {
      let done = 0;
      while (done < records.length) done += writeSync(this.#file, records, done);
      this.#size += records.length;
    } catch {
      // A full disk: containerd goes on as well, to drain the container, and drops the record.
    }
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  /** The clock's milliseconds, and below them a counter, so that no two records have the same time. */
  #stamp(): string {
    const milliseconds = new Date(this.clock.now()).toISOString().slice(0, -1);
    this.#sequence = milliseconds === this.#lastStamp ? this.#sequence + 1 : 0;
    this.#lastStamp = milliseconds;
    return `${milliseconds}${String(this.#sequence % 1_000_000).padStart(6, '0')}Z`;
  }
}
