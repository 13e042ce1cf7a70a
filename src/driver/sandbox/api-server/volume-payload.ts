import type { ConfigMap, Secret } from './objects.js';
import type { KeyToPath, ProjectedSource, SourceOfKeys, Volume } from './pod-objects.js';

/** A volume that cannot be set up (yet): the kubelet says so in a FailedMount event and tries again. */
export class MountError extends Error {
  override readonly name = 'MountError';
  constructor(volume: string, problem: string) {
    super(`MountVolume.SetUp failed for volume "${volume}" : ${problem}`);
  }
}

/** Where a pod's volumes and environment find what they refer to, in the pod's namespace. */
export interface PodSources {
  secret(name: string): Secret | undefined;
  configMap(name: string): ConfigMap | undefined;
  /** A field of the pod; '' for one that is not there. */
  field(path: string): string;
}

export interface PayloadFile {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

/** The files of a volume that is made of API objects; undefined for an emptyDir. Throws MountError when one is missing. */
export function volumePayload(volume: Volume, sources: PodSources): PayloadFile[] | undefined {
  if (volume.secret) {
    const { secretName: name, defaultMode = 0o644, ...rest } = volume.secret;
    return projectedFiles(volume.name, { secret: { name, ...rest } }, defaultMode, sources);
  }
  if (volume.configMap) {
    const { defaultMode = 0o644, ...configMap } = volume.configMap;
    return projectedFiles(volume.name, { configMap }, defaultMode, sources);
  }
  if (volume.projected) {
    const { defaultMode = 0o644, sources: entries = [] } = volume.projected;
    return entries.flatMap((entry) => projectedFiles(volume.name, entry, defaultMode, sources));
  }
  return undefined;
}

function projectedFiles(volume: string, entry: ProjectedSource, mode: number, sources: PodSources): PayloadFile[] {
  if (entry.secret) {
    const object = sources.secret(entry.secret.name);
    return keys(volume, 'secret', entry.secret, object && decoded(object.data ?? {}, 'base64'), mode);
  }
  if (entry.configMap) {
    const object = sources.configMap(entry.configMap.name);
    return keys(volume, 'configmap', entry.configMap, object && decoded(object.data ?? {}, 'utf8'), mode);
  }
  if (entry.downwardAPI) {
    return (entry.downwardAPI.items ?? []).map(({ path, fieldRef }) => {
      return { path, content: Buffer.from(fieldRef ? sources.field(fieldRef.fieldPath) : ''), mode };
    });
  }
  if (entry.serviceAccountToken) {
    // There is nothing that this token would open: the API server here knows one bearer, and a pod is not it.
    return [{ path: entry.serviceAccountToken.path, content: Buffer.from('no-such-token'), mode }];
  }
  throw new MountError(
    volume,
    `a projected source of this kind is not supported here: ${Object.keys(entry).join(', ')}`,
  );
}

function keys(
  volume: string,
  kind: 'secret' | 'configmap',
  { name, items, optional }: SourceOfKeys,
  data: ReadonlyMap<string, Buffer> | undefined,
  mode: number,
): PayloadFile[] {
  if (!data) {
    if (optional) return [];
    throw new MountError(volume, `${kind} "${name}" not found`);
  }
  const wanted: readonly KeyToPath[] = items ?? [...data.keys()].map((key) => ({ key, path: key }));
  return wanted.flatMap((item) => {
    const content = data.get(item.key);
    if (content) return [{ path: item.path, content, mode: item.mode ?? mode }];
    if (optional) return [];
    throw new MountError(volume, `references non-existent ${kind} key: ${item.key}`);
  });
}

function decoded(data: Readonly<Record<string, string>>, encoding: 'base64' | 'utf8'): Map<string, Buffer> {
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, encoding)]));
}
