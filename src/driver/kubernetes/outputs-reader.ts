import type { Assembler } from '../../frame/assemble.js';
import type { KubernetesApi } from './api.js';
import { isAbort, isRefused } from './kubernetes-error.js';
import { LogReader, type LogEnd, type LogReaderOptions, type LogSource } from './log-reader.js';

/** Three heartbeats of the sidecar: a connection that is silent for so long is dead. */
const IDLE_MS = 45_000;

/**
 * Whoever has everything does not wait for the end of a follow. Who has not gets what is on its way, however slow the line is:
 * a file that was rotated is open in this connection alone. The kubelet ends a follow within a second of the container's end.
 */
const DRAIN_MS = 3000;

export interface OutputsReaderOptions {
  readonly api: KubernetesApi;
  readonly source: LogSource;
  readonly assembler: Assembler;
  /** Something came, if only a part of a block. */
  readonly onHeard: () => void;
  /** What the assembler tells has changed: called for each block, and not for the 85 lines that it comes in. */
  readonly onProgress: () => void;
  /** The connection was silent although the sidecar's heartbeats were due: it is dead, and others may be too. */
  readonly onSilence: () => void;
  /** The run is stopped, or has no use for outputs any more. */
  readonly signal: AbortSignal;
  /** The sidecar has ended for good. */
  readonly ended: AbortSignal;
}

/** Why the log brought no more. */
export interface OutputsEnd {
  /** A clause; absent where all is there, or nothing was in the way but that nobody waits any longer. */
  readonly reason?: string;
  /** It could not be read to its end: whoever tries later may find more in it. */
  readonly isUnread?: boolean;
}

/** What a last try gets where minutes without contact went before it. */
const LAST_PATIENCE_MS = 15_000;

/**
 * Reads the sidecar's log into the assembler until everything is proven, or the log is at its end. Then one whole
 * reading more, where something is missing: a clean end of a stream proves nothing, and of a log that was rotated a follow
 * and a reading see different parts. Rejects with what the assembler threw (a full disk is CnabError `unavailable`).
 */
export async function readOutputs(options: OutputsReaderOptions): Promise<OutputsEnd> {
  const { api, source, assembler, signal } = options;
  const enough = new AbortController();
  const stop = (): void => enough.abort();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  /** What was in the way last, since something new came. */
  let interrupted: string | undefined;
  let received = assembler.receivedBytes;
  const onNews = (): void => {
    options.onProgress();
    if (assembler.receivedBytes !== received) interrupted = undefined;
    received = assembler.receivedBytes;
    if (assembler.complete) stop();
  };
  const onBytes = (chunk: Uint8Array): Promise<void> | undefined => {
    options.onHeard();
    return assembler.push(chunk)?.then(onNews);
  };
  const read = (ended: AbortSignal, more: Partial<LogReaderOptions>): Promise<LogEnd> => {
    const reader = new LogReader(api, {
      source,
      signal: enough.signal,
      ended,
      resume: 'overlap',
      idleMs: IDLE_MS,
      drainMs: DRAIN_MS,
      onBytes,
      onEvent: (event) => {
        if (event.kind === 'connected') assembler.restart();
        if (event.kind !== 'interrupted') return;
        interrupted = event.reason;
        if (event.silent === true) options.onSilence();
      },
      ...more,
    });
    return reader.run();
  };
  try {
    if (assembler.complete) return {};
    const first = await read(options.ended, {});
    if (assembler.complete) return {};
    if (first.kind === 'stopped' || first.kind === 'gone') return endOf(first, interrupted);
    const more = { again: true, ...(first.kind === 'failed' ? { patienceMs: LAST_PATIENCE_MS } : {}) };
    const last = await read(AbortSignal.abort(), more);
    return assembler.complete ? {} : endOf(last, interrupted);
  } catch (error) {
    if (assembler.complete) return {};
    if (isAbort(error)) return endOf({ kind: 'stopped' }, interrupted);
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function endOf({ kind, error }: Pick<LogEnd, 'kind' | 'error'>, interrupted: string | undefined): OutputsEnd {
  if (kind === 'stopped') return interrupted === undefined ? {} : { reason: interrupted };
  if (error === undefined) return { reason: 'the log of the outputs sidecar ended too early' };
  return { reason: error.message, isUnread: kind === 'failed' && (error.transient || isRefused(error)) };
}
