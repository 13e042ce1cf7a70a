import type { V1Job } from '@kubernetes/client-node';
import { RunHeld } from '../driver.js';
import { ANNOTATION } from './names.js';

/** Who is on a run, as its Job says: a process that looks after it until it has ended. */
export interface Holder {
  /** 32 hex digits, drawn by each process. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** RFC 3339, by that process's clock. */
  readonly since: string;
  /** It may tell that it lives, and does. */
  readonly beats: boolean;
  /** Grows with each time that it does. */
  readonly beat: number;
}

/** How often a holder tells that it lives. */
export const BEAT_MS = 10_000;
/** A holder that has told nothing new for so long is gone: three beats and a slow request. */
export const SILENCE_MS = 35_000;

const MOST_TEXT = 1000;
const ID = /^[0-9a-f]{32}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const HOST = /^[\w.:-]{1,253}$/;

/** A machine's name as it can be read back: a kernel may have any, `(none)` where nobody has named it. */
export function hostOf(name: string): string {
  return name.replace(/[^\w.:-]/g, '-').slice(0, 253) || 'unknown';
}

/** As the annotation of a Job. */
export function holderText({ id, host, pid, since, beats, beat }: Holder): string {
  return JSON.stringify({ id, host, pid, since, beats, beat });
}

/** Undefined where the Job names none, or something that no cnab has written: whoever may write there may write anything. */
export function holderOf(job: V1Job): Holder | undefined {
  const text = job.metadata?.annotations?.[ANNOTATION.holder] ?? '';
  if (text === '' || text.length > MOST_TEXT) return undefined;
  try {
    const { id, host, pid, since, beats, beat } = JSON.parse(text) as Partial<Record<keyof Holder, unknown>>;
    const isText = (value: unknown, form: RegExp): value is string => typeof value === 'string' && form.test(value);
    const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
    if (!isText(id, ID) || !isText(host, HOST) || !isText(since, TIME)) return undefined;
    if (!isCount(pid) || !isCount(beat) || typeof beats !== 'boolean') return undefined;
    return { id, host, pid, since, beats, beat };
  } catch {
    return undefined;
  }
}

/** A Job as it is posted by a process that stays on its run. */
export function heldJob(job: V1Job, holder: Holder): V1Job {
  const { metadata } = job;
  return {
    ...job,
    metadata: { ...metadata, annotations: { ...metadata?.annotations, [ANNOTATION.holder]: holderText(holder) } },
  };
}

/** `process 12 on ci-7`. */
export function processOf({ pid, host }: Holder): string {
  return `process ${pid} on ${host}`;
}

/** The refusal for who would take a run from its holder. */
export function heldError(runId: string, holder: Holder): RunHeld {
  const who = `${processOf(holder)} has been on run ${runId} since ${holder.since}`;
  if (holder.beats) return new RunHeld(`${who}, and lives`);
  const why = 'it may not patch jobs, by which it would say so';
  return new RunHeld(`${who}, and nothing tells from here whether it still is: ${why}`);
}
