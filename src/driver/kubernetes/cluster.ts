import type { Clock } from '../clock.js';
import type { DriverSettings } from '../settings.js';
import { KubernetesApi } from './api.js';
import type { Connection } from './connection.js';
import { checkVersion, findPlace, type Place, type WhenAbsent } from './place.js';

/** The cluster a driver speaks to, found fit for a run. */
export interface Cluster {
  readonly api: KubernetesApi;
  readonly place: Place;
}

/** Rejects with CnabError: no way to a cluster, not reachable, too old, no such namespace. */
export async function openCluster(
  connection: Connection,
  settings: DriverSettings,
  clock: Clock,
  signal: AbortSignal,
): Promise<Cluster> {
  const api = new KubernetesApi(connection, { clock });
  const namespace = settings.namespace ?? connection.namespace ?? 'default';
  const [place] = await Promise.all([
    findPlace(api, namespace, whenAbsent(settings), signal),
    checkVersion(api, signal),
  ]);
  return { api, place };
}

function whenAbsent({ createNamespace, dryRun }: DriverSettings): WhenAbsent {
  if (!createNamespace) return 'refuse';
  return dryRun === true ? 'suppose' : 'create';
}
