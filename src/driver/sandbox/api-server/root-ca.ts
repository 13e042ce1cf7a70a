import { configMapDraft } from './defaults.js';
import type { ObjectStore } from './object-store.js';

/** Gives every namespace the ConfigMap that it has in a cluster since 1.20. Plain HTTP has no CA, so it is empty. */
export function publishRootCa(store: ObjectStore): () => void {
  return store.listen(({ resource, type, object }) => {
    if (resource !== 'namespaces' || type !== 'ADDED') return;
    const given = { metadata: { name: 'kube-root-ca.crt' }, data: { 'ca.crt': '' } };
    store.create('configmaps', configMapDraft(given, object.metadata.name));
  });
}
