/** Go types of the API, as far as decoding JSON needs them. `any` is a field that is known and passes through. */
export type Schema =
  | 'string'
  | 'int32'
  | 'int64'
  | 'bool'
  | '[]uint8'
  | 'any'
  | 'quantity'
  | { readonly list: Schema }
  | { readonly map: Schema }
  | { readonly struct: string; readonly fields: Readonly<Record<string, Schema>> };

const struct = (name: string, fields: Readonly<Record<string, Schema>>): Schema => ({ struct: name, fields });
const list = (of: Schema): Schema => ({ list: of });
const map = (of: Schema): Schema => ({ map: of });
const anything = (names: string): Record<string, Schema> =>
  Object.fromEntries(names.split(' ').map((name) => [name, 'any']));

const metadata = struct('ObjectMeta', {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  labels: map('string'),
  annotations: map('string'),
  ownerReferences: list(
    struct('OwnerReference', {
      apiVersion: 'string',
      kind: 'string',
      name: 'string',
      uid: 'string',
      controller: 'bool',
      blockOwnerDeletion: 'bool',
    }),
  ),
  finalizers: list('string'),
  ...anything('uid resourceVersion generation creationTimestamp deletionTimestamp managedFields selfLink'),
  ...anything('deletionGracePeriodSeconds'),
});

const keyToPath = struct('KeyToPath', { key: 'string', path: 'string', mode: 'int32' });

const volume = struct('Volume', {
  name: 'string',
  emptyDir: struct('EmptyDirVolumeSource', { medium: 'string', sizeLimit: 'any' }),
  secret: struct('SecretVolumeSource', {
    secretName: 'string',
    items: list(keyToPath),
    defaultMode: 'int32',
    optional: 'bool',
  }),
  projected: struct('ProjectedVolumeSource', {
    defaultMode: 'int32',
    sources: list(
      struct('VolumeProjection', {
        secret: struct('SecretProjection', { name: 'string', items: list(keyToPath), optional: 'bool' }),
        ...anything('configMap downwardAPI serviceAccountToken clusterTrustBundle podCertificate'),
      }),
    ),
  }),
  ...anything('hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs persistentVolumeClaim rbd'),
  ...anything('flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume quobyte azureDisk'),
  ...anything('photonPersistentDisk portworxVolume scaleIO storageos csi ephemeral image'),
});

const env = struct('EnvVar', {
  name: 'string',
  value: 'string',
  valueFrom: struct('EnvVarSource', {
    secretKeyRef: struct('SecretKeySelector', { name: 'string', key: 'string', optional: 'bool' }),
    ...anything('configMapKeyRef fieldRef resourceFieldRef fileKeyRef'),
  }),
});

const securityContext = {
  runAsNonRoot: 'bool',
  runAsUser: 'int64',
  runAsGroup: 'int64',
  ...anything('seLinuxOptions windowsOptions seccompProfile appArmorProfile'),
} as const;

const container = struct('Container', {
  name: 'string',
  image: 'string',
  command: list('string'),
  args: list('string'),
  workingDir: 'string',
  restartPolicy: 'string',
  imagePullPolicy: 'string',
  terminationMessagePath: 'string',
  terminationMessagePolicy: 'string',
  env: list(env),
  volumeMounts: list(
    struct('VolumeMount', {
      name: 'string',
      mountPath: 'string',
      subPath: 'string',
      subPathExpr: 'string',
      readOnly: 'bool',
      ...anything('recursiveReadOnly mountPropagation'),
    }),
  ),
  securityContext: struct('SecurityContext', {
    ...securityContext,
    privileged: 'bool',
    allowPrivilegeEscalation: 'bool',
    readOnlyRootFilesystem: 'bool',
    capabilities: struct('Capabilities', { add: list('string'), drop: list('string') }),
    procMount: 'any',
  }),
  lifecycle: struct('Lifecycle', {
    postStart: struct('LifecycleHandler', {
      exec: struct('ExecAction', { command: list('string') }),
      ...anything('httpGet tcpSocket sleep'),
    }),
    ...anything('preStop stopSignal'),
  }),
  resources: struct('ResourceRequirements', { limits: map('quantity'), requests: map('quantity'), claims: 'any' }),
  ...anything('ports envFrom volumeDevices livenessProbe readinessProbe startupProbe stdin stdinOnce tty resizePolicy'),
  ...anything('restartPolicyRules'),
});

const podSpec = struct('PodSpec', {
  restartPolicy: 'string',
  terminationGracePeriodSeconds: 'int64',
  activeDeadlineSeconds: 'int64',
  serviceAccountName: 'string',
  automountServiceAccountToken: 'bool',
  enableServiceLinks: 'bool',
  shareProcessNamespace: 'bool',
  nodeName: 'string',
  nodeSelector: map('string'),
  hostname: 'string',
  securityContext: struct('PodSecurityContext', {
    ...securityContext,
    fsGroup: 'int64',
    ...anything('supplementalGroups supplementalGroupsPolicy sysctls fsGroupChangePolicy seLinuxChangePolicy'),
  }),
  initContainers: list(container),
  containers: list(container),
  volumes: list(volume),
  ...anything('ephemeralContainers dnsPolicy serviceAccount hostNetwork hostPID hostIPC imagePullSecrets subdomain'),
  ...anything('affinity schedulerName tolerations hostAliases priorityClassName priority dnsConfig readinessGates'),
  ...anything('runtimeClassName preemptionPolicy overhead topologySpreadConstraints setHostnameAsFQDN os hostUsers'),
  ...anything('schedulingGates resourceClaims resources hostnameOverride workloadRef schedulingGroup'),
});

const typed = { apiVersion: 'string', kind: 'string', metadata } as const;

export const SCHEMAS = {
  namespaces: struct('Namespace', { ...typed, spec: 'any', status: 'any' }),
  secrets: struct('Secret', {
    ...typed,
    data: map('[]uint8'),
    stringData: map('string'),
    type: 'string',
    immutable: 'bool',
  }),
  jobs: struct('Job', {
    ...typed,
    spec: struct('JobSpec', {
      parallelism: 'int32',
      completions: 'int32',
      backoffLimit: 'int32',
      activeDeadlineSeconds: 'int64',
      ttlSecondsAfterFinished: 'int32',
      suspend: 'bool',
      manualSelector: 'bool',
      completionMode: 'string',
      podReplacementPolicy: 'string',
      template: struct('PodTemplateSpec', { metadata, spec: podSpec }),
      ...anything('selector podFailurePolicy successPolicy backoffLimitPerIndex maxFailedIndexes managedBy'),
    }),
    status: 'any',
  }),
} as const satisfies Readonly<Record<string, Schema>>;

/** What a client can create here. */
export type CreatedName = keyof typeof SCHEMAS;
