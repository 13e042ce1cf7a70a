import type { V1OwnerReference, V1Secret } from '@kubernetes/client-node';
import type { PlannedSecret } from './inputs.js';

/** The Job that owns the Secrets: they go when it goes, also when nobody is left to delete them. */
export interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** Immutable, so that no later hand changes what the kubelet mounts. */
export function buildSecret(secret: PlannedSecret, owner: Owner, labels: Readonly<Record<string, string>>): V1Secret {
  const data: Record<string, string> = {};
  for (const [key, bytes] of secret.entries) data[key] = Buffer.from(bytes).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    immutable: true,
    metadata: { name: secret.name, labels: { ...labels }, ownerReferences: [ownerReference(owner)] },
    data,
  };
}

/** `blockOwnerDeletion` stays false: true needs the right to update the Job's finalizers on some clusters (OpenShift). */
function ownerReference(owner: Owner): V1OwnerReference {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: owner.name,
    uid: owner.uid,
    controller: false,
    blockOwnerDeletion: false,
  };
}
