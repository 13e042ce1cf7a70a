import { closeSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../clock.js';
import { CriEncoder, type StreamName } from './cri-log.js';

/** `created`: a file of the log's name has come; it is the newest one, whatever came before it. */
export type LogEvent = 'written' | 'created';

export interface RotationPolicy {
  readonly maxBytes: number;
  /** 0: with each write, and nothing of the old file stays, as CRI-O does with its own limit (`log_size_max`). */
  readonly everyMs: number;
  /** Files that stay, the present one included. */
  readonly keep: number;
}

/** What a kubelet's inotify watch on the folder of a log tells it: one event after the other, equal ones in a row as one. */
export class LogWatch {
  readonly #events: LogEvent[] = [];
  #wake: () => void = () => undefined;

  constructor(readonly close: () => void) {}

  tell(event: LogEvent): void {
    if (event === 'created' || this.#events.at(-1) !== event) this.#events.push(event);
    this.#wake();
  }

  /** The oldest event that was not taken yet, once there is one; undefined when `signal` is aborted. */
  async next(signal: AbortSignal): Promise<LogEvent | undefined> {
    if (this.#events.length === 0 && !signal.aborted) {
      let stop = (): void => undefined;
      await new Promise<void>((resolve) => {
        stop = resolve;
        this.#wake = resolve;
        signal.addEventListener('abort', stop, { once: true });
      });
      signal.removeEventListener('abort', stop);
    }
    return signal.aborted ? undefined : this.#events.shift();
  }
}

/**
 * One start of a container: its log file `<folder>/<attempt>.log`, written by the runtime's output and turned over
 * by the kubelet. Readers wait on it for more.
 */
export class ContainerLog {
  readonly path: string;
  readonly #over = new AbortController();
  #file: number;
  #size = 0;
  #lastStamp = '';
  #sequence = 0;
  #rotations = 0;
  #isDue = false;
  readonly #begin: number;
  readonly #encoders: Readonly<Record<StreamName, CriEncoder>>;
  readonly #watches = new Set<LogWatch>();

  constructor(
    private readonly folder: string,
    private readonly attempt: number,
    private readonly clock: Clock,
    private readonly rotation: RotationPolicy,
  ) {
    this.#begin = clock.now();
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
    this.#tell('written');
  }

  /**
   * Renames the file and begins a new one, as the kubelet does with a log above containerLogMaxSize. At most `keep`
   * files stay. A partial line stays with the runtime and goes to the new file. Nothing happens after the end.
   */
  rotate(keep = 5): void {
    if (this.ended) return;
    closeSync(this.#file);
    const time = new Date(this.clock.now()).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
    this.#rotations += 1;
    renameSync(this.path, `${this.path}.${time}.${String(this.#rotations).padStart(6, '0')}`);
    this.#file = openSync(this.path, 'a', 0o600);
    this.#size = 0;
    const old = readdirSync(this.folder).filter((name) => name.startsWith(`${this.attempt}.log.`));
    for (const name of old.sort().slice(0, Math.max(0, old.length - keep + 1))) rmSync(join(this.folder, name));
    this.#tell('created');
  }

  /** To be called after each write. What has become too large is turned over at the kubelet's next look, so it can be far larger. */
  #checkSize(): void {
    const { maxBytes, everyMs, keep } = this.rotation;
    if (this.#isDue || this.#size < maxBytes) return;
    if (everyMs === 0) return this.rotate(1);
    this.#isDue = true;
    const rest = everyMs - ((this.clock.now() - this.#begin) % everyMs);
    void this.clock.sleep(rest, this.#over.signal).then(
      () => {
        this.#isDue = false;
        this.rotate(keep);
      },
      () => undefined,
    );
  }

  /** Hears what happens to the log from now on. */
  watch(): LogWatch {
    const watch = new LogWatch(() => this.#watches.delete(watch));
    this.#watches.add(watch);
    return watch;
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
    this.#tell('written');
    this.#checkSize();
  }

  #tell(event: LogEvent): void {
    for (const watch of this.#watches) watch.tell(event);
  }

  /** The clock's milliseconds, and below them a counter, so that no two records have the same time. */
  #stamp(): string {
    const milliseconds = new Date(this.clock.now()).toISOString().slice(0, -1);
    this.#sequence = milliseconds === this.#lastStamp ? this.#sequence + 1 : 0;
    this.#lastStamp = milliseconds;
    return `${milliseconds}${String(this.#sequence % 1_000_000).padStart(6, '0')}Z`;
  }
}
