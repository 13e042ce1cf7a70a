import type { Assembler } from '../../frame/assemble.js';
import type { KubernetesApi } from './api.js';
import { fetchByExec, type TransferEnd } from './exec-transfer.js';
import type { LogSource } from './log-request.js';

/** Brings files of the manifest into the assembler. Rejects with AbortError and with what the assembler threw. */
export type FetchOutputs = (
  indices: readonly number[],
  signal: AbortSignal,
  onProgress: () => void,
) => Promise<TransferEnd>;

export function fetchFrom(api: KubernetesApi, source: LogSource, assembler: Assembler): FetchOutputs {
  return (indices, signal, onProgress) => fetchByExec({ api, source, assembler, indices, signal, onProgress });
}
