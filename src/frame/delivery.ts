import type { Manifest } from './manifest.js';
import type { OutputLimits } from './problem.js';

/**
 * What one pass by the log carries without loss, in bytes before base64: 6 MiB after it, so that the log file stays below
 * the size at which a kubelet rotates it (10 MiB), and everything can be read again until the pod is deleted.
 */
export const SMALL_BYTES = 4_718_592;

/** Passes over outputs above SMALL_BYTES: what one of them loses to a rotation, the others bring. */
export const LARGE_PASSES = 3;

/** How outputs leave the pod; chosen before the Job is made, and part of it. */
export interface Way {
  /** `exec`: what is large or must not be in the log is fetched by exec. `log`: nobody will ever exec. */
  readonly via: 'log' | 'exec';
  /** Most bytes of outputs, before base64, that may travel by the log. */
  readonly maxLogBytes: number;
  /** `not-sensitive`: no byte of a sensitive output is written to the log. */
  readonly inLog: 'all' | 'not-sensitive';
}

/** Which files come by which way, as long as exec works. Files without a byte are in neither list. */
export interface Delivery {
  /** Indices, ascending. */
  readonly byLog: readonly number[];
  /** Indices, ascending. Not empty: the sidecar holds until it is told that all is there. */
  readonly byExec: readonly number[];
  /** Passes over `byLog` that the sidecar makes by itself. */
  readonly passes: 0 | 1 | 3;
}

/** Pure; `sidecar.sh` decides the same from the same manifest. */
export function deliveryOf(manifest: Pick<Manifest, 'entries'>, way: Pick<Way, 'via' | 'maxLogBytes'>): Delivery {
  const files = manifest.entries.flatMap((entry) =>
    (entry.kind === 'file' || entry.kind === 'sealed') && entry.size > 0 ? [entry] : [],
  );
  const logged = files.filter(({ kind }) => kind === 'file');
  const isSmall = logged.reduce((sum, { size }) => sum + size, 0) <= Math.min(SMALL_BYTES, way.maxLogBytes);
  const isLogged = isSmall || way.via === 'log';
  const byLog = isLogged ? logged : [];
  const byExec = isLogged ? files.filter(({ kind }) => kind === 'sealed') : files;
  return {
    byLog: byLog.map(({ index }) => index),
    byExec: byExec.map(({ index }) => index),
    passes: byLog.length === 0 ? 0 : isSmall ? 1 : LARGE_PASSES,
  };
}

/** The limits that sidecar and assembler apply: without exec no more than the log may carry. */
export function limitsOf(limits: OutputLimits, way: Way): OutputLimits {
  return way.via === 'exec' ? limits : { ...limits, maxTotalBytes: Math.min(limits.maxTotalBytes, way.maxLogBytes) };
}
