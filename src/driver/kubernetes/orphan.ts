import type { KubernetesApi } from './api.js';
import { isForbidden, isNotFound } from './kubernetes-error.js';
import { hasStarted, invocationStatus } from './pod-status.js';
import { resource } from './resources.js';
import { ownSecretsOf } from './run-inputs.js';
import type { FoundObjects } from './run-objects.js';

/** Whoever makes them is not done yet, if he lives. */
const SECRETS_MS = 15_000;

/**
 * Why a Job that was found will never start: its process died before it had made all Secrets. Undefined where they are
 * there, may not be read, or are needed no more. Takes a while before it says so. Rejects with KubernetesError, AbortError.
 */
export async function neverStarts(
  api: KubernetesApi,
  found: FoundObjects,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { pod } = found.view;
  if (pod !== undefined && hasStarted(invocationStatus(pod))) return undefined;
  if (await hasSecrets(api, found, signal)) return undefined;
  await api.clock.sleep(SECRETS_MS, signal);
  if (await hasSecrets(api, found, signal)) return undefined;
  return 'the process that began it ended before it had made all Secrets of its Job, without which nothing starts';
}

async function hasSecrets(api: KubernetesApi, { job, spec }: FoundObjects, signal: AbortSignal): Promise<boolean> {
  const { namespace } = job;
  for (const name of ownSecretsOf(spec, job.name)) {
    try {
      await api.get(resource.secret(namespace, name), {
        doing: `read secret ${name} in namespace ${namespace}`,
        signal,
      });
    } catch (error) {
      if (isNotFound(error)) return false;
      if (isForbidden(error)) return true;
      throw error;
    }
  }
  return true;
}
