import type { ObjectStore } from './object-store.js';

/** Gives every namespace the ConfigMap that it has in a cluster since 1.20. Plain HTTP has no CA, so it is empty. */
export function publishRootCa(store: ObjectStore): () => void {
  return store.listen(({ resource, type, object }) => {
    if (resource !== 'namespaces' || type !== 'ADDED') return;
    const metadata = { name: 'kube-root-ca.crt', namespace: object.metadata.name };
    store.create('configmaps', { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { 'ca.crt': '' } });
  });
}
