import type { Container, EnvVar, PodSpec, Volume } from './pod-objects.js';

/** `reason` without its prefix `FieldValue`. */
export type Note = (field: string, reason: string, message: string) => void;

const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** `always`: whether restartPolicy may be Always, or absent (a bare pod). */
export function podSpecProblems(field: string, spec: Partial<PodSpec> | undefined, always: boolean, note: Note): void {
  const {
    containers = [],
    initContainers = [],
    volumes = [],
    restartPolicy,
    terminationGracePeriodSeconds,
  } = spec ?? {};
  const names = new Set<string>();
  volumes.forEach((volume, index) => volumeProblems(`${field}.volumes[${index}]`, volume, names, note));
  if (containers.length === 0) note(`${field}.containers`, 'Required', 'Required value');
  const used = new Set<string>();
  containers.forEach((container, index) =>
    containerProblems(`${field}.containers[${index}]`, container, names, used, note),
  );
  initContainers.forEach((container, index) => {
    const at = `${field}.initContainers[${index}]`;
    containerProblems(at, container, names, used, note);
    if (container.restartPolicy !== undefined && !['Always', 'OnFailure', 'Never'].includes(container.restartPolicy)) {
      const value = JSON.stringify(container.restartPolicy);
      note(`${at}.restartPolicy`, 'NotSupported', `Unsupported value: ${value}: supported values: "Always"`);
    }
    if (container.lifecycle && container.restartPolicy !== 'Always') {
      note(
        `${at}.lifecycle`,
        'Forbidden',
        'Forbidden: may not be set for init containers without restartPolicy=Always',
      );
    }
  });
  if (!always && restartPolicy !== 'Never' && restartPolicy !== 'OnFailure') {
    const valid = 'valid values: "OnFailure", "Never"';
    if (restartPolicy === undefined) note(`${field}.restartPolicy`, 'Required', `Required value: ${valid}`);
    else {
      const message = `Unsupported value: ${JSON.stringify(restartPolicy)}: supported values: "OnFailure", "Never"`;
      note(`${field}.restartPolicy`, 'NotSupported', message);
    }
  }
  if (terminationGracePeriodSeconds !== undefined && terminationGracePeriodSeconds < 0) {
    const message = `Invalid value: ${terminationGracePeriodSeconds}: must be greater than or equal to 0`;
    note(`${field}.terminationGracePeriodSeconds`, 'Invalid', message);
  }
}

function labelProblems(field: string, value: string | undefined, note: Note): void {
  if (value === undefined || value === '') note(field, 'Required', 'Required value');
  else if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(value)) {
    note(field, 'Invalid', `Invalid value: ${JSON.stringify(value)}: ${LABEL_RULE}`);
  } else if (value.length > 63) {
    note(field, 'Invalid', `Invalid value: ${JSON.stringify(value)}: must be no more than 63 bytes`);
  }
}

function volumeProblems(at: string, volume: Volume, names: Set<string>, note: Note): void {
  labelProblems(`${at}.name`, volume.name, note);
  if (names.has(volume.name)) {
    note(`${at}.name`, 'Duplicate', `Duplicate value: ${JSON.stringify(volume.name)}`);
  }
  names.add(volume.name);
  const types = Object.keys(volume).filter((key) => key !== 'name');
  if (types.length > 1) {
    note(`${at}.${types[1]}`, 'Forbidden', 'Forbidden: may not specify more than 1 volume type');
  }
  if (volume.secret && !volume.secret.secretName) note(`${at}.secret.secretName`, 'Required', 'Required value');
  const projected = volume.projected?.sources ?? [];
  const items = [...(volume.secret?.items ?? []), ...projected.flatMap((source) => source.secret?.items ?? [])];
  for (const { path } of items) {
    if (path.startsWith('/'))
      note(`${at}.items.path`, 'Invalid', `Invalid value: ${JSON.stringify(path)}: must be a relative path`);
    if (path.split('/').includes('..')) {
      note(`${at}.items.path`, 'Invalid', `Invalid value: ${JSON.stringify(path)}: must not contain '..'`);
    }
  }
}

function containerProblems(
  at: string,
  container: Container,
  volumes: ReadonlySet<string>,
  used: Set<string>,
  note: Note,
): void {
  labelProblems(`${at}.name`, container.name, note);
  if (used.has(container.name)) {
    note(`${at}.name`, 'Duplicate', `Duplicate value: ${JSON.stringify(container.name)}`);
  }
  used.add(container.name);
  if (!container.image) note(`${at}.image`, 'Required', 'Required value');
  container.env?.forEach((variable, index) => envProblems(`${at}.env[${index}]`, variable, note));
  const paths = new Set<string>();
  container.volumeMounts?.forEach(({ name, mountPath, subPath }, index) => {
    const mount = `${at}.volumeMounts[${index}]`;
    if (!name) note(`${mount}.name`, 'Required', 'Required value');
    else if (!volumes.has(name)) note(`${mount}.name`, 'NotFound', `Not found: ${JSON.stringify(name)}`);
    if (!mountPath) note(`${mount}.mountPath`, 'Required', 'Required value');
    else if (paths.has(mountPath)) {
      note(`${mount}.mountPath`, 'Invalid', `Invalid value: ${JSON.stringify(mountPath)}: must be unique`);
    }
    paths.add(mountPath);
    if (subPath?.startsWith('/')) {
      note(`${mount}.subPath`, 'Invalid', `Invalid value: ${JSON.stringify(subPath)}: must be a relative path`);
    } else if (subPath?.split('/').includes('..')) {
      note(`${mount}.subPath`, 'Invalid', `Invalid value: ${JSON.stringify(subPath)}: must not contain '..'`);
    }
  });
}

function envProblems(at: string, { name, value, valueFrom }: EnvVar, note: Note): void {
  if (!name) note(`${at}.name`, 'Required', 'Required value');
  else if (!/^[\x20-\x3c\x3e-\x7e]+$/.test(name)) {
    const rule = "a valid environment variable name must consist only of printable ASCII characters other than '='";
    note(`${at}.name`, 'Invalid', `Invalid value: ${JSON.stringify(name)}: ${rule}`);
  }
  if (!valueFrom) return;
  if (value) {
    note(`${at}.valueFrom`, 'Invalid', 'Invalid value: "": may not be specified when `value` is not empty');
  }
  const selector = valueFrom.secretKeyRef;
  if (selector && !selector.key) note(`${at}.valueFrom.secretKeyRef.key`, 'Required', 'Required value');
  if (selector && !selector.name) note(`${at}.valueFrom.secretKeyRef.name`, 'Required', 'Required value');
}
