import type { MergeSchema } from './strategic-merge.js';

// From the tags patchStrategy and patchMergeKey of k8s.io/api/core/v1 and apimachinery's ObjectMeta (1.37).
const CONTAINER: MergeSchema = {
  lists: {
    env: { key: 'name' },
    ports: { key: 'containerPort' },
    volumeDevices: { key: 'devicePath' },
    volumeMounts: { key: 'mountPath' },
  },
};

/** A pod template, as far as merging is concerned. Tolerations, commands and affinity terms are atomic. */
export const POD_SCHEMA: MergeSchema = {
  objects: {
    metadata: { lists: { ownerReferences: { key: 'uid' } }, sets: ['finalizers'] },
    spec: {
      lists: {
        containers: { key: 'name', items: CONTAINER },
        ephemeralContainers: { key: 'name', items: CONTAINER },
        evictionResponders: { key: 'name' },
        hostAliases: { key: 'ip' },
        imagePullSecrets: { key: 'name' },
        initContainers: { key: 'name', items: CONTAINER },
        resourceClaims: { key: 'name' },
        schedulingGates: { key: 'name' },
        topologySpreadConstraints: { key: 'topologyKey' },
        volumes: { key: 'name' },
      },
    },
  },
};
