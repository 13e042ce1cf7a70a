import type { Assembler } from '../../frame/assemble.js';
import type { KubernetesApi } from './api.js';
import type { LogSource } from './log-reader.js';
import type { SidecarAccess } from './transfer.js';

/** What goes by exec to the sidecars of runs. */
export interface SidecarWays {
  readonly accessTo: (api: KubernetesApi, source: LogSource, assembler: Assembler) => SidecarAccess | undefined;
  /** Everything of the run is proven and on disk: its sidecar need hold nothing any longer. Returns at once. */
  readonly letGo: (api: KubernetesApi, source: LogSource, runId: string) => void;
}
