import type { RawData, WebSocket } from 'ws';
import type { KubernetesApi } from './api.js';
import { apiPath, querySuffix } from './api-path.js';
import { abortErrorOf } from './deadline.js';
import { openExecSocket } from './exec-socket.js';
import { readStatus, type ExecStatus } from './exec-status.js';
import type { LogSource } from './log-request.js';
import { oneLine } from './network-error.js';
import { wakeableSleep } from './wait.js';

export interface ExecRequest {
  readonly source: LogSource;
  readonly command: readonly string[];
  /** For messages, an infinitive. */
  readonly doing: string;
  readonly signal: AbortSignal;
  /** Bytes of stdout that are wanted. With the last of them the exec is over; with 0 when its status has come. */
  readonly bytes: number;
  /** Part of stdout, never more than `bytes` together. Awaited: while it is slow the socket is not read. */
  readonly onData: (chunk: Buffer) => void | undefined | Promise<void>;
}

/** How an exec that began has ended. */
export interface ExecEnd {
  /** Bytes of stdout that were handed on. */
  readonly received: number;
  /** Absent: none came, or all wanted bytes were there before it. */
  readonly status?: ExecStatus;
  /** Why the stream is over although neither all bytes nor a status have come: a clause. */
  readonly broken?: string;
  /** The beginning of stderr, as one line. */
  readonly stderr: string;
}

/** An exec is quiet only while the command computes; then the answers to pings tell that the way is open. */
const PING_MS = 5000;
const DEAD_MS = 20_000;
/** Somebody answers pings, but the command brings nothing: the node hangs. */
const QUIET_MS = 120_000;
/** A status that overtook data was seen; data that come a second after the last ones were not. */
const LATE_DATA_MS = 1000;
/** As much as arrives while a few blocks are written: with a MiB the socket was paused and resumed for each of them. */
const MOST_QUEUED = 4 * 1024 ** 2;
const STDERR_BYTES = 4096;

const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;

/**
 * Runs one command in a container and takes what it writes. Rejects with KubernetesError where the exec did not begin (see
 * openExecSocket), with AbortError, or with what `onData` threw. Holds at most MOST_QUEUED and one message in memory.
 */
export async function runExec(api: KubernetesApi, request: ExecRequest): Promise<ExecEnd> {
  const { source, command, doing, signal } = request;
  const { namespace, pod, container } = source;
  const words = command.map((word) => `&command=${encodeURIComponent(word)}`).join('');
  const query = querySuffix({ container, stdout: true, stderr: true });
  const path = apiPath('/api/v1', 'namespaces', namespace, 'pods', pod, 'exec') + query + words;
  const socket = await openExecSocket(api, { path, doing, signal });
  return new ExecStream(api, request, socket).run();
}

class ExecStream {
  readonly #over = new AbortController();
  readonly #queue: Buffer[] = [];
  #queued = 0;
  /** stdout bytes that came, and those that were handed on. */
  #come = 0;
  #given = 0;
  #pumping: Promise<void> = Promise.resolve();
  #isPumping = false;
  #status: ExecStatus | undefined;
  #statusBytes = Buffer.alloc(0);
  #stderr = Buffer.alloc(0);
  #broken: string | undefined;
  #thrown: { readonly error: unknown } | undefined;
  /** Wakes the watch: from here on it waits for less. */
  readonly #statusCame = new AbortController();
  #heard: number;
  #told: number;

  constructor(
    private readonly api: KubernetesApi,
    private readonly request: ExecRequest,
    private readonly socket: WebSocket,
  ) {
    this.#heard = this.#told = api.clock.now();
  }

  async run(): Promise<ExecEnd> {
    const { socket } = this;
    const { signal } = this.request;
    const onAbort = (): void => this.#over.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('pong', () => (this.#heard = this.api.clock.now()));
    socket.on('error', (error) => this.#end(`it broke (${oneLine(error.message).slice(0, 200)})`));
    socket.on('close', () => this.#end('it was closed'));
    if (socket.readyState !== socket.OPEN) this.#end('it was closed');
    socket.resume();
    await this.#watch();
    // Not a closing handshake: whoever is at the other end may be dead, and has nothing to say any more.
    socket.terminate();
    await this.#pumping;
    signal.removeEventListener('abort', onAbort);
    if (this.#thrown !== undefined) throw this.#thrown.error;
    if (signal.aborted) throw abortErrorOf(signal);
    return this.#result();
  }

  #result(): ExecEnd {
    const hasAll = this.#given === this.request.bytes && this.#given > 0;
    return {
      received: this.#given,
      stderr: oneLine(this.#stderr.toString('utf8')),
      ...(this.#status === undefined ? {} : { status: this.#status }),
      ...(this.#status !== undefined || hasAll || this.#broken === undefined ? {} : { broken: this.#broken }),
    };
  }

  #end(broken?: string): void {
    if (this.#over.signal.aborted) return;
    this.#broken ??= broken;
    this.#over.abort();
  }

  /** Resolves when the exec is over, whatever the reason; finds out itself that nothing comes any more. */
  async #watch(): Promise<void> {
    const { clock } = this.api;
    const over = this.#over.signal;
    while (!over.aborted) {
      const hadStatus = this.#statusCame.signal.aborted;
      const come = this.#come;
      if (hadStatus) await wakeableSleep(clock, LATE_DATA_MS, over);
      else await wakeableSleep(clock, PING_MS, over, this.#statusCame.signal);
      // Nothing is read while the consumer works; that is no silence of the other side.
      if (over.aborted || this.socket.isPaused || hadStatus !== this.#statusCame.signal.aborted) continue;
      if (hadStatus && this.#come === come) return this.#end('its end made no sense');
      const now = clock.now();
      if (now - this.#heard >= DEAD_MS)
        return this.#end(`nothing came for ${DEAD_MS / 1000} s, no answer to pings either`);
      if (now - this.#told >= QUIET_MS) return this.#end(`the command said nothing for ${QUIET_MS / 1000} s`);
      this.socket.ping(undefined, undefined, () => undefined);
    }
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#over.signal.aborted) return;
    this.#heard = this.api.clock.now();
    const bytes = data as Buffer;
    // Every channel begins with an empty message.
    if (bytes.length <= 1 || !isBinary) return;
    const channel = bytes[0];
    if (channel !== STDOUT && channel !== STDERR && channel !== STATUS) return;
    this.#told = this.#heard;
    const content = bytes.subarray(1);
    if (channel === STDOUT) this.#takeData(content);
    else if (channel === STDERR) this.#stderr = bounded(this.#stderr, content);
    else this.#takeStatus(content);
  }

  #takeData(content: Buffer): void {
    const chunk = content.subarray(0, this.request.bytes - this.#come);
    if (chunk.length === 0) return;
    this.#come += chunk.length;
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    if (this.#queued >= MOST_QUEUED && !this.socket.isPaused) this.socket.pause();
    if (!this.#isPumping) this.#pumping = this.#pump();
    if (this.#come === this.request.bytes) this.#end();
  }

  #takeStatus(content: Buffer): void {
    this.#statusBytes = bounded(this.#statusBytes, content);
    this.#status ??= readStatus(this.#statusBytes);
    this.#statusCame.abort();
    // A command that failed has no more to say, one that succeeded may have data on the way.
    const { bytes } = this.request;
    if (this.#status !== undefined && (this.#status.kind !== 'success' || bytes === this.#come)) this.#end();
  }

  /** Hands on what is queued; never rejects. */
  async #pump(): Promise<void> {
    this.#isPumping = true;
    try {
      for (let chunk = this.#queue.shift(); chunk !== undefined; chunk = this.#queue.shift()) {
        if (this.request.signal.aborted) break;
        const waiting = this.request.onData(chunk);
        if (waiting !== undefined) await waiting;
        this.#given += chunk.length;
        this.#queued -= chunk.length;
        if (this.#queued < MOST_QUEUED / 2 && this.socket.isPaused) this.#resume();
      }
    } catch (error) {
      this.#thrown ??= { error };
      this.#queue.length = 0;
      this.#end();
    } finally {
      this.#isPumping = false;
    }
  }

  #resume(): void {
    this.#heard = this.#told = this.api.clock.now();
    this.socket.resume();
  }
}

function bounded(kept: Buffer, more: Buffer): Buffer<ArrayBuffer> {
  return Buffer.concat([kept, more.subarray(0, STDERR_BYTES - kept.length)]);
}
