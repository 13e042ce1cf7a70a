import type { Assembler } from '../../frame/assemble.js';
import type { KubernetesApi } from './api.js';
import { fetchByExec } from './exec-transfer.js';
import { signalSidecar } from './exec-verbs.js';
import type { LogSource } from './log-request.js';

/** How one go at fetching ended. `mayHeal`: nobody refused it, there was no way through. */
export type Fetched =
  { readonly kind: 'complete' } | { readonly kind: 'failed'; readonly reason: string; readonly mayHeal: boolean };

/** What can be asked of the sidecar by exec. */
export interface SidecarAccess {
  /** Brings files of the manifest into the assembler. Rejects with AbortError and with what the assembler threw. */
  readonly fetch: (indices: readonly number[], signal: AbortSignal, onProgress: () => void) => Promise<Fetched>;
  /** Sends the sidecar the SIGTERM that the kubelet should have sent. Rejects with KubernetesError, AbortError. */
  readonly terminate: (signal: AbortSignal) => Promise<void>;
}

export function accessByExec(api: KubernetesApi, source: LogSource, assembler: Assembler): SidecarAccess {
  return {
    fetch: async (indices, signal, onProgress) => {
      const end = await fetchByExec({ api, source, assembler, indices, signal, onProgress });
      if (end.kind === 'complete') return end;
      return { kind: 'failed', reason: end.reason, mayHeal: end.error?.transient === true };
    },
    terminate: (signal) => signalSidecar(api, source, signal),
  };
}
