import { randomSuffix } from './object-names.js';
import type { Job, Namespace, ObjectMeta, Secret } from './objects.js';
import type { Container, PodSpec } from './pod-objects.js';
import type { Draft } from './object-store.js';

type Given = Readonly<Record<string, unknown>>;

/** With a name made of generateName, where it has no other. */
export function withName(given: Given): Given {
  const metadata = (given['metadata'] ?? {}) as Partial<ObjectMeta>;
  if (metadata.name || !metadata.generateName) return given;
  return { ...given, metadata: { ...metadata, name: `${metadata.generateName.slice(0, 58)}${randomSuffix()}` } };
}

/** Metadata of an object to create; what only the server sets is dropped. */
function draftMetadata(given: Given, namespace: string | undefined): Draft<Secret>['metadata'] {
  const metadata = (given['metadata'] ?? {}) as Partial<ObjectMeta>;
  const { labels, annotations, ownerReferences, finalizers, generateName } = metadata;
  const { name = '' } = metadata;
  return {
    name,
    ...(generateName === undefined ? {} : { generateName }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(finalizers === undefined ? {} : { finalizers }),
  };
}

export function namespaceDraft(given: Given): Draft<Namespace> {
  const metadata = draftMetadata(given, undefined);
  const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
  return {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: { ...metadata, labels },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

export function secretDraft(given: Given, namespace: string): Draft<Secret> {
  const { data, stringData, type, immutable } = given as Partial<Secret> & { stringData?: Record<string, string> };
  const plain = Object.entries(stringData ?? {}).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  const all = { ...data, ...(Object.fromEntries(plain) as Record<string, string>) };
  return {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: draftMetadata(given, namespace),
    ...(Object.keys(all).length === 0 ? {} : { data: all }),
    ...(immutable === undefined ? {} : { immutable }),
    type: type ?? 'Opaque',
  };
}

/** A Job with what the API server adds: counts, selector, the labels by which its pods are found. */
export function jobDraft(given: Given, namespace: string, uid: string): Draft<Job> {
  const metadata = draftMetadata(given, namespace);
  const spec = given['spec'] as Job['spec'];
  const { template } = spec;
  const labels = {
    ...template.metadata?.labels,
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': metadata.name,
    'controller-uid': uid,
    'job-name': metadata.name,
  };
  return {
    kind: 'Job',
    apiVersion: 'batch/v1',
    // A Job without labels of its own takes those of its template.
    metadata: { ...metadata, uid, generation: 1, labels: metadata.labels ?? labels },
    spec: {
      ...spec,
      parallelism: spec.parallelism ?? 1,
      completions: spec.completions ?? 1,
      backoffLimit: spec.backoffLimit ?? 6,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      podReplacementPolicy: spec.podReplacementPolicy ?? 'TerminatingOrFailed',
      ...{ manualSelector: false, completionMode: 'NonIndexed', suspend: false },
      template: { ...template, metadata: { ...template.metadata, labels }, spec: podSpec(template.spec) },
    },
    status: {},
  };
}

function podSpec(spec: PodSpec): PodSpec {
  const { initContainers, volumes } = spec;
  return {
    ...{ dnsPolicy: 'ClusterFirst', schedulerName: 'default-scheduler', securityContext: {} },
    ...spec,
    ...(volumes ? { volumes: volumes.map(volumeDefaults) } : {}),
    ...(initContainers ? { initContainers: initContainers.map(containerDefaults) } : {}),
    containers: spec.containers.map(containerDefaults),
    restartPolicy: spec.restartPolicy ?? 'Always',
    terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? 30,
  };
}

function containerDefaults(container: Container): Container {
  const latest = /(^|\/)[^:/]+(:latest)?$/.test(container.image);
  return {
    ...{ resources: {}, terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' },
    imagePullPolicy: latest ? 'Always' : 'IfNotPresent',
    ...container,
  };
}

type Volumes = NonNullable<PodSpec['volumes']>[number];

function volumeDefaults(volume: Volumes): Volumes {
  if (volume.secret) return { ...volume, secret: { defaultMode: 420, ...volume.secret } };
  if (volume.projected) return { ...volume, projected: { defaultMode: 420, ...volume.projected } };
  return volume;
}
