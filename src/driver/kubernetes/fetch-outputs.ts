import type { Assembler } from '../../frame/assemble.js';
import type { KubernetesApi } from './api.js';
import { fetchByExec } from './exec-transfer.js';
import type { LogSource } from './log-request.js';

/** How one go at fetching ended. `mayHeal`: nobody refused it, there was no way through. */
export type Fetched =
  { readonly kind: 'complete' } | { readonly kind: 'failed'; readonly reason: string; readonly mayHeal: boolean };

/** Brings files of the manifest into the assembler. Rejects with AbortError and with what the assembler threw. */
export type FetchOutputs = (
  indices: readonly number[],
  signal: AbortSignal,
  onProgress: () => void,
) => Promise<Fetched>;

export function fetchFrom(api: KubernetesApi, source: LogSource, assembler: Assembler): FetchOutputs {
  return async (indices, signal, onProgress) => {
    const end = await fetchByExec({ api, source, assembler, indices, signal, onProgress });
    if (end.kind === 'complete') return end;
    return { kind: 'failed', reason: end.reason, mayHeal: end.error?.transient === true };
  };
}
