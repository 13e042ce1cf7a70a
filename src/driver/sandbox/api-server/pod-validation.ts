import { configKeyProblem, LABEL, SUBDOMAIN } from './name-rules.js';
import type { Container, EnvVar, KeyToPath, PodSpec, Volume } from './pod-objects.js';

/** `reason` without its prefix `FieldValue`. */
export type Note = (field: string, reason: string, message: string) => void;

/** Of the pods of a Job. */
export function podSpecProblems(field: string, spec: Partial<PodSpec> | undefined, note: Note): void {
  const { containers = [], initContainers = [], volumes = [], restartPolicy } = spec ?? {};
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
      note(
        `${at}.restartPolicy`,
        'NotSupported',
        `Unsupported value: ${value}: supported values: "Always", "Never", "OnFailure"`,
      );
    }
    if (container.lifecycle && container.restartPolicy !== 'Always') {
      note(
        `${at}.lifecycle`,
        'Forbidden',
        'Forbidden: may not be set for init containers without restartPolicy=Always',
      );
    }
  });
  restartPolicyProblems(`${field}.restartPolicy`, restartPolicy, note);
}

function restartPolicyProblems(field: string, policy: string | undefined, note: Note): void {
  if (policy === 'OnFailure' || policy === 'Never') return;
  if (policy === undefined || policy === 'Always') {
    note(field, 'Required', 'Required value: valid values: "OnFailure", "Never"');
    return;
  }
  for (const values of ['"Always", "OnFailure", "Never"', '"OnFailure", "Never"']) {
    note(field, 'NotSupported', `Unsupported value: ${JSON.stringify(policy)}: supported values: ${values}`);
  }
}

function labelProblems(field: string, value: string | undefined, note: Note): void {
  if (value === undefined || value === '') note(field, 'Required', 'Required value');
  else if (!LABEL.regex.test(value)) {
    note(field, 'Invalid', `Invalid value: ${JSON.stringify(value)}: ${LABEL.text}`);
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
  itemProblems(`${at}.secret`, volume.secret?.items ?? [], note);
  volume.projected?.sources?.forEach(({ secret }, index) =>
    itemProblems(`${at}.projected.sources[${index}].secret`, secret?.items ?? [], note),
  );
}

function itemProblems(at: string, items: readonly KeyToPath[], note: Note): void {
  items.forEach(({ key, path }, index) => {
    const field = `${at}.items[${index}]`;
    if (!key) note(`${field}.key`, 'Required', 'Required value');
    if (!path) note(`${field}.path`, 'Required', 'Required value');
    else relativePathProblems(`${field}.path`, path, note);
  });
}

function relativePathProblems(field: string, path: string, note: Note): void {
  const shown = JSON.stringify(path);
  if (path.startsWith('/')) note(field, 'Invalid', `Invalid value: ${shown}: must be a relative path`);
  else if (path.split('/').includes('..')) note(field, 'Invalid', `Invalid value: ${shown}: must not contain '..'`);
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
    // Without an index, as the API server has it.
    if (subPath) relativePathProblems(`${at}.volumeMounts.subPath`, subPath, note);
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
  if (Object.keys(valueFrom).length === 0) {
    const sources = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    note(`${at}.valueFrom`, 'Invalid', `Invalid value: "": must specify one of: ${sources}`);
  }
  const { secretKeyRef: selector } = valueFrom;
  if (!selector) return;
  const field = `${at}.valueFrom.secretKeyRef`;
  if (!selector.name) note(`${field}.name`, 'Required', 'Required value');
  else if (!SUBDOMAIN.regex.test(selector.name)) {
    note(`${field}.name`, 'Invalid', `Invalid value: ${JSON.stringify(selector.name)}: ${SUBDOMAIN.text}`);
  }
  if (!selector.key) note(`${field}.key`, 'Required', 'Required value');
  else {
    const problem = configKeyProblem(selector.key);
    if (problem) note(`${field}.key`, 'Invalid', `Invalid value: ${JSON.stringify(selector.key)}: ${problem}`);
  }
}
