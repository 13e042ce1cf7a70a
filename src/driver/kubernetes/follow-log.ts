import type { DriverIo } from '../driver.js';
import type { KubernetesApi } from './api.js';
import { BundleLogStream } from './bundle-log-stream.js';
import { decide } from './decision.js';
import { outcomeOf } from './ending.js';
import { isAbort } from './kubernetes-error.js';
import { Observer } from './observer.js';
import type { FoundObjects } from './run-objects.js';
import { until } from './until.js';

/**
 * Passes on the bundle's log until the run has ended or the signal is aborted. Rejects with KubernetesError where contact
 * is lost, and with what `onLog` threw.
 */
export async function followLog(
  api: KubernetesApi,
  runId: string,
  { view, job }: FoundObjects,
  { signal, onLog }: Pick<DriverIo, 'signal' | 'onLog'>,
): Promise<{ readonly complete: boolean }> {
  const { clock } = api;
  const { namespace, name } = job;
  const observer = new Observer({ api, namespace, runId, job: name, view, onTrouble: () => undefined });
  const log = new BundleLogStream({ api, view, onLog });
  const end = (): { readonly complete: boolean } | undefined => {
    if (observer.lost !== undefined) throw observer.lost;
    if (log.isOpen) return log.isDone ? { complete: log.isComplete } : undefined;
    const now = clock.now();
    const decision = decide(view, { now, clusterNow: api.serverNow, posted: now, startTimeoutMs: 0 });
    // What never ran has said nothing.
    return decision === undefined ? undefined : { complete: outcomeOf(decision, view.history).ran === 'no' };
  };
  try {
    await observer.start(signal);
    const ended = await until(view, clock, signal, end);
    if (log.failure !== undefined) throw log.failure.thrown;
    return ended ?? { complete: false };
  } catch (error) {
    if (isAbort(error) && signal.aborted) return { complete: false };
    throw error;
  } finally {
    await log.stop();
    await observer.stop();
  }
}
