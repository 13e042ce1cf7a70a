import { messageOf } from '../../errors.js';
import type { KubernetesApi } from './api.js';
import { chunksOf } from './body-stream.js';
import { DeadlineError } from './deadline.js';
import { AbortError, isAbort, KubernetesError, toKubernetesError, isRefused } from './kubernetes-error.js';
import { LogCursor } from './log-cursor.js';
import type { LogPiece, LogPlace } from './log-cursor.js';
import type { LogEnd, LogReaderOptions } from './log-reader-options.js';
import { doingOf, isPodGone, isWaiting, openLog } from './log-request.js';
import { Outage } from './outage.js';
import { OverlapCursor } from './overlap-cursor.js';
import { pauseMs } from './retry.js';
import { untilAborted, wakeableSleep } from './wait.js';

export type { LogEnd, LogReaderEvent, LogReaderOptions } from './log-reader-options.js';
export type { LogSource } from './log-request.js';

/**
 * Silence after the container's end that is no longer waited out: the kubelet ends a follow only at its next look, up
 * to a second later, or hangs (kubernetes#115701). The last reading gets what may be missing. While bytes still come
 * they are taken from here, because a file that was rotated meanwhile is open only in this connection.
 */
const DRAIN_MS = 150;
const LAST_IDLE_MS = 30_000;
const WAITING_MS = 500;
/** A connection that lasted so long was a good one, even if the container said nothing. */
const STEADY_MS = 20_000;
const DEFAULT_PATIENCE_MS = 5 * 60_000;

/** How one reading went. */
type Reading =
  | { readonly kind: 'read-to-end' }
  | { readonly kind: 'waiting'; readonly reason: string }
  | { readonly kind: 'broken'; readonly error: KubernetesError; readonly silent: boolean }
  | { readonly kind: 'cut'; readonly reason: string };

/** Follows the log of one container over broken connections. */
export class LogReader {
  private readonly cursor: LogPlace;
  private gaps = 0;
  private bytes = 0;
  private connections = 0;
  /** Of connections that could not be made: one that broke had stood until then, whatever it said. */
  private readonly outage = new Outage();
  /** When the connection of this reading was made. */
  private opened: number | undefined;
  private cut: AbortController | undefined;

  constructor(
    private readonly api: KubernetesApi,
    private readonly options: LogReaderOptions,
  ) {
    this.cursor = options.resume === 'exact' ? new LogCursor() : new OverlapCursor();
  }

  /** Evidence from elsewhere that the connection is dead: cuts it and resumes. */
  reconnect(reason: string): void {
    this.cut?.abort(new Error(reason));
  }

  /** Resolves with how it ended; rejects only with what onBytes or onGap threw, or for a bug. */
  async run(): Promise<LogEnd> {
    const { signal, ended } = this.options;
    const { clock } = this.api;
    let failures = 0;
    for (;;) {
      if (signal.aborted) return this.end('stopped');
      // Once the container has ended its log no longer grows: a reading without following comes to its very end,
      // also where a follow stops short because of a rotation just before the end.
      const last = ended.aborted;
      const before = this.bytes;
      this.opened = undefined;
      let reading: Reading;
      try {
        reading = await this.read(!last);
      } catch (error) {
        if (signal.aborted && isAbort(error)) return this.end('stopped');
        throw error;
      }
      if (reading.kind !== 'broken' || this.opened !== undefined) this.outage.end();
      if (this.bytes > before || clock.now() - (this.opened ?? Infinity) >= STEADY_MS) failures = 0;
      if (last && reading.kind === 'read-to-end') return this.finish();
      if (last && reading.kind === 'waiting') return this.end('ended');
      if (reading.kind === 'broken') {
        const over = this.verdictOf(reading.error);
        if (over !== undefined) return this.end(over, reading.error);
      }
      // Between the end of a stream and the pod's status that explains it lies less than a second.
      if (ended.aborted && !last) continue;
      failures++;
      await this.pause(reading, failures);
    }
  }

  private verdictOf(error: KubernetesError): 'gone' | 'failed' | undefined {
    if (isPodGone(error)) return 'gone';
    if (!this.mayHeal(error)) return 'failed';
    if (this.opened !== undefined || this.isOutlasted(error)) return undefined;
    const withoutWayMs = this.outage.fail(this.api.clock.now());
    return withoutWayMs >= (this.options.patienceMs ?? DEFAULT_PATIENCE_MS) ? 'failed' : undefined;
  }

  /**
   * Of a container that runs there is more to come, and a kubelet that is away for an hour may be back for it: whether the
   * cluster can be reached at all is for the watch to judge. A refusal is an answer.
   */
  private isOutlasted(error: KubernetesError): boolean {
    return !this.options.ended.aborted && !isRefused(error);
  }

  /** A login that has run out in the middle may be renewed; the watch waits for that too. Who was never let in is told at once. */
  private mayHeal(error: KubernetesError): boolean {
    const wasLetIn = this.connections > 0 || this.options.again === true;
    return error.transient || error.statusCode === 404 || (wasLetIn && isRefused(error));
  }

  /** The last reading came to the end of the log. */
  private async finish(): Promise<LogEnd> {
    if (!this.cursor.found) await this.give([{ gap: 'the place where the reading stopped is no longer in the log' }]);
    return this.end('ended');
  }

  private async pause(reading: Reading, failures: number): Promise<void> {
    const { onEvent, signal, ended } = this.options;
    const { clock, random } = this.api;
    const after = reading.kind === 'broken' ? reading.error.retryAfterMs : undefined;
    const ms = reading.kind === 'waiting' ? WAITING_MS : pauseMs(failures, random, after);
    if (reading.kind === 'waiting') onEvent?.({ kind: 'waiting', reason: reading.reason });
    else {
      const silent = reading.kind === 'broken' && reading.silent;
      onEvent?.({ kind: 'interrupted', reason: reasonOf(reading), pauseMs: ms, ...(silent ? { silent } : {}) });
    }
    await wakeableSleep(clock, ms, signal, ...(ended.aborted ? [] : [ended]));
  }

  private async read(follow: boolean): Promise<Reading> {
    const cut = new AbortController();
    this.cut = cut;
    const onStop = (): void => cut.abort(new AbortError(this.options.signal.reason));
    this.options.signal.addEventListener('abort', onStop, { once: true });
    try {
      return await this.readOnce(follow, cut.signal);
    } catch (thrown) {
      if (thrown instanceof ConsumerError) throw thrown.cause;
      if (this.options.signal.aborted) throw new AbortError(this.options.signal.reason);
      if (cut.signal.aborted) return { kind: 'cut', reason: messageOf(cut.signal.reason) };
      const error = toKubernetesError(thrown, doingOf(this.options.source), this.api.connection);
      if (!(error instanceof KubernetesError)) throw error;
      if (isWaiting(error)) return { kind: 'waiting', reason: error.serverMessage ?? error.message };
      return { kind: 'broken', error, silent: thrown instanceof DeadlineError };
    } finally {
      this.options.signal.removeEventListener('abort', onStop);
      this.cut = undefined;
    }
  }

  private async readOnce(follow: boolean, signal: AbortSignal): Promise<Reading> {
    const { source, idleMs, drainMs, ended, onEvent } = this.options;
    const { sinceTime } = this.cursor;
    const response = await openLog(this.api, source, signal, {
      follow,
      timestamps: true,
      ...(sinceTime === undefined ? {} : { sinceTime }),
    });
    if (response.statusCode === 204) {
      response.resume();
      return { kind: 'waiting', reason: 'the pod has no node yet' };
    }
    this.connections++;
    this.opened = this.api.clock.now();
    onEvent?.({ kind: 'connected' });
    this.cursor.begin();
    const { clock } = this.api;
    const limits = {
      ...(idleMs === undefined ? {} : { idleMs }),
      then: { signal: ended, idleMs: follow ? (drainMs ?? DRAIN_MS) : LAST_IDLE_MS },
    };
    for await (const chunk of chunksOf(response, { clock, signal, ...limits })) {
      await this.give(this.cursor.push(chunk));
    }
    return { kind: 'read-to-end' };
  }

  private async give(pieces: readonly LogPiece[]): Promise<void> {
    const { onBytes, onGap, signal } = this.options;
    for (const piece of pieces) {
      if (signal.aborted) throw new AbortError(signal.reason);
      try {
        if ('gap' in piece) {
          this.gaps++;
          await untilAborted(signal, onGap?.(piece.gap));
        } else {
          this.bytes += piece.bytes.length;
          const waiting = onBytes(piece.bytes);
          if (waiting === undefined) continue;
          await untilAborted(signal, waiting);
          this.cursor.taken?.();
        }
      } catch (error) {
        if (signal.aborted && isAbort(error)) throw error;
        throw new ConsumerError(error);
      }
    }
  }

  private end(kind: LogEnd['kind'], error?: KubernetesError): LogEnd {
    const { gaps, bytes, connections } = this;
    return { kind, gaps, bytes, connections, ...(error === undefined ? {} : { error }) };
  }
}

/** Carries what a callback threw past the translation of network errors. */
class ConsumerError extends Error {
  override readonly name = 'ConsumerError';

  constructor(override readonly cause: unknown) {
    super('the consumer of a log failed', { cause });
  }
}

function reasonOf(reading: Exclude<Reading, { kind: 'waiting' }>): string {
  switch (reading.kind) {
    case 'read-to-end':
      return 'the stream ended before the container';
    case 'broken':
      return reading.error.message;
    case 'cut':
      return reading.reason;
  }
}
