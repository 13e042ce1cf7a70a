import { invalid, type StatusCause } from './api-error.js';
import { RESOURCES, type Job, type ObjectMeta } from './objects.js';
import { configKeyProblem, LABEL, LABEL_KEY, LABEL_VALUE, NAME_PART, SUBDOMAIN } from './name-rules.js';
import { podSpecProblems, type Note } from './pod-validation.js';
import type { CreatedName } from './schema.js';

type Given = Readonly<Record<string, unknown>>;

const MAX_SECRET_BYTES = 1_048_576;
const MAX_ANNOTATION_BYTES = 262_144;

/** Checks a decoded object as the API server does. Throws one ApiError 422 with all that is wrong. */
export function validate(resource: CreatedName, object: Given): void {
  const causes: StatusCause[] = [];
  const note: Note = (field, reason, message) => void causes.push({ reason: `FieldValue${reason}`, message, field });
  const metadata = (object['metadata'] ?? {}) as Partial<ObjectMeta>;
  metadataProblems(resource, metadata, note);
  if (resource === 'jobs') jobProblems(object['spec'] as Partial<Job['spec']> | undefined, metadata, note);
  if (resource === 'secrets') secretProblems(object, note);
  if (causes.length === 0) return;
  const { kind, group } = RESOURCES[resource];
  throw invalid(group === '' ? kind : `${kind}.${group}`, metadata.name ?? '', causes);
}

function metadataProblems(resource: CreatedName, metadata: Partial<ObjectMeta>, note: Note): void {
  const { name, generateName } = metadata;
  const rule = resource === 'namespaces' ? LABEL : SUBDOMAIN;
  if (!name && !generateName) {
    note('metadata.name', 'Required', 'Required value: name or generateName is required');
  } else if (name && !rule.regex.test(name)) {
    note('metadata.name', 'Invalid', `Invalid value: ${JSON.stringify(name)}: ${rule.text}`);
  } else if (name && name.length > (resource === 'namespaces' ? 63 : 253)) {
    note('metadata.name', 'Invalid', `Invalid value: ${JSON.stringify(name)}: must be no more than 253 bytes`);
  } else if (!name && generateName && !rule.regex.test(`${generateName}x`)) {
    note('metadata.generateName', 'Invalid', `Invalid value: ${JSON.stringify(generateName)}: ${rule.text}`);
  }
  labelProblems('metadata.labels', metadata.labels ?? {}, note);
  annotationProblems(metadata.annotations ?? {}, note);
}

function labelProblems(field: string, labels: Readonly<Record<string, string>>, note: Note): void {
  for (const [key, value] of Object.entries(labels)) {
    keyProblems(field, key, note);
    if (value.length > 63) {
      note(field, 'Invalid', `Invalid value: ${JSON.stringify(value)}: must be no more than 63 bytes`);
    } else if (!/^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/.test(value)) {
      note(field, 'Invalid', `Invalid value: ${JSON.stringify(value)}: ${LABEL_VALUE}`);
    }
  }
}

function keyProblems(field: string, key: string, note: Note, tested = key): void {
  const parts = tested.split('/');
  if (parts.length > 2) return note(field, 'Invalid', `Invalid value: ${JSON.stringify(key)}: ${LABEL_KEY}`);
  const [name = '', prefix] = parts.reverse();
  const fits = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/.test(name) && name.length <= 63;
  if (!fits) note(field, 'Invalid', `Invalid value: ${JSON.stringify(key)}: ${NAME_PART}`);
  if (prefix !== undefined && !SUBDOMAIN.regex.test(prefix)) {
    note(field, 'Invalid', `Invalid value: ${JSON.stringify(key)}: prefix part ${SUBDOMAIN.text}`);
  }
}

function annotationProblems(annotations: Readonly<Record<string, string>>, note: Note): void {
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    keyProblems('metadata.annotations', key, note, key.toLowerCase());
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > MAX_ANNOTATION_BYTES) {
    note('metadata.annotations', 'TooLong', `Too long: may not be more than ${MAX_ANNOTATION_BYTES} bytes`);
  }
}

function jobProblems(spec: Partial<Job['spec']> = {}, metadata: Partial<ObjectMeta>, note: Note): void {
  for (const field of [
    'parallelism',
    'completions',
    'backoffLimit',
    'activeDeadlineSeconds',
    'ttlSecondsAfterFinished',
  ] as const) {
    const value = spec[field];
    if (value !== undefined && value < 0) {
      note(`spec.${field}`, 'Invalid', `Invalid value: ${value}: must be greater than or equal to 0`);
    }
  }
  const { name } = metadata;
  if (name !== undefined && name.length > 63) {
    // Its pods carry it in the label job-name.
    const field = 'spec.template.labels';
    note(field, 'Invalid', `Invalid value: ${JSON.stringify(name)}: must be no more than 63 bytes`);
  }
  labelProblems('spec.template.labels', spec.template?.metadata?.labels ?? {}, note);
  podSpecProblems('spec.template.spec', spec.template?.spec, note);
}

function secretProblems(object: Given, note: Note): void {
  const data = (object['data'] ?? {}) as Record<string, string>;
  const plain = (object['stringData'] ?? {}) as Record<string, string>;
  let size = 0;
  for (const [key, value] of [...Object.entries(data), ...Object.entries(plain)]) {
    const problem = configKeyProblem(key);
    if (problem) note(`data[${key}]`, 'Invalid', `Invalid value: ${JSON.stringify(key)}: ${problem}`);
    size += Object.hasOwn(data, key) ? Buffer.byteLength(value, 'base64') : Buffer.byteLength(value);
  }
  if (size > MAX_SECRET_BYTES) note('data', 'TooLong', `Too long: may not be more than ${MAX_SECRET_BYTES} bytes`);
}
