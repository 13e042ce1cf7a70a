import type { Secret } from './objects.js';
import type { KeyToPath, SourceOfKeys, Volume } from './pod-objects.js';

/** A volume that cannot be set up (yet): the kubelet says so in a FailedMount event and tries again. */
export class MountError extends Error {
  override readonly name = 'MountError';
  constructor(volume: string, problem: string) {
    super(`MountVolume.SetUp failed for volume "${volume}" : ${problem}`);
  }
}

/** A Secret in the pod's namespace. */
export type FindSecret = (name: string) => Secret | undefined;

export interface PayloadFile {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

/** The files of a volume that is made of Secrets; undefined for an emptyDir. Throws MountError when one is missing. */
export function volumePayload(volume: Volume, secret: FindSecret): PayloadFile[] | undefined {
  if (volume.secret) {
    const { secretName: name, defaultMode = 0o644, ...rest } = volume.secret;
    return secretFiles(volume.name, { name, ...rest }, defaultMode, secret);
  }
  if (volume.projected) {
    const { defaultMode = 0o644, sources = [] } = volume.projected;
    return sources.flatMap((source) => {
      if (source.secret) return secretFiles(volume.name, source.secret, defaultMode, secret);
      const kind = Object.keys(source).join(', ');
      throw new MountError(volume.name, `a projected source of this kind is not supported here: ${kind}`);
    });
  }
  return undefined;
}

function secretFiles(
  volume: string,
  { name, items, optional }: SourceOfKeys,
  mode: number,
  secret: FindSecret,
): PayloadFile[] {
  const found = secret(name);
  if (!found) {
    if (optional) return [];
    throw new MountError(volume, `secret "${name}" not found`);
  }
  const { data = {} } = found;
  const wanted: readonly KeyToPath[] = items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return wanted.flatMap((item) => {
    const content = Object.hasOwn(data, item.key) ? data[item.key] : undefined;
    if (content !== undefined)
      return [{ path: item.path, content: Buffer.from(content, 'base64'), mode: item.mode ?? mode }];
    if (optional) return [];
    throw new MountError(volume, `references non-existent secret key: ${item.key}`);
  });
}
