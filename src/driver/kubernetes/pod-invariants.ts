import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../bundle/bundle.js';
import { OUTPUTS_FOLDER } from '../../bundle/bundle.js';
import { INVOCATION_CONTAINER, OUTPUTS_CONTAINER } from './names.js';
import { FILES_VOLUME, OUTPUTS_VOLUME } from './sidecar.js';

const TOKEN = 'a token of the cluster reaches the bundle only by --service-account';
const SIGNALS = 'the sidecar is told of the end of the bundle as the first process of its container';
const ORDERS = 'the sidecar takes its orders from it';
const AGAIN = 'a bundle is run once, never again by itself';
const PROBED = 'a probe would stop the sidecar, and the outputs with it';

/** Fields by which a run is held together, and why. */
const POD_FIELDS: Readonly<Record<string, string>> = {
  restartPolicy: AGAIN,
  terminationGracePeriodSeconds: 'it is what --hold-time says',
  activeDeadlineSeconds: 'a run is limited with --timeout, which saves its outputs',
  automountServiceAccountToken: TOKEN,
  serviceAccountName: TOKEN,
  serviceAccount: TOKEN,
  shareProcessNamespace: SIGNALS,
  hostPID: SIGNALS,
};
const SIDECAR_FIELDS: Readonly<Record<string, string>> = {
  image: 'it is chosen with --shell-image',
  command: ORDERS,
  args: ORDERS,
  env: ORDERS,
  envFrom: ORDERS,
  restartPolicy: 'the sidecar lives as long as the bundle',
  restartPolicyRules: 'the sidecar lives as long as the bundle',
  lifecycle: 'it keeps the bundle back until its inputs are there',
  livenessProbe: PROBED,
  startupProbe: PROBED,
  tty: 'a terminal would change the bytes of the outputs',
};
const INVOCATION_FIELDS: Readonly<Record<string, string>> = {
  image: 'the bundle says which image is run',
  command: 'the run tool of a bundle is /cnab/app/run, without arguments',
  args: 'the run tool of a bundle is /cnab/app/run, without arguments',
  restartPolicy: AGAIN,
  restartPolicyRules: AGAIN,
};

/**
 * What a changed pod template no longer has of the one that a run rests on, one sentence each, beginning with the field;
 * empty when all is well. Resources, security contexts, scheduling, further containers, volumes, variables and labels
 * are free. Pure.
 */
export function podInvariantProblems(before: JsonObject, after: JsonObject): string[] {
  const [spec, patched] = [objectIn(before, 'spec'), objectIn(after, 'spec')];
  const [sidecar, invocation] = [sidecarOf(spec), invocationOf(spec)];
  return [
    ...metadataProblems(objectIn(before, 'metadata'), objectIn(after, 'metadata')),
    ...changed('spec', spec, patched, POD_FIELDS),
    ...sidecarProblems(sidecar ?? {}, sidecarOf(patched)),
    ...invocationProblems(invocation ?? {}, invocationOf(patched)),
    ...restartProblems(patched),
    ...volumeProblems(spec, patched),
  ];
}

/** Everything else in it has no meaning for the pod of a Job, or keeps the pod from being removed (finalizers). */
function metadataProblems(before: JsonObject, after: JsonObject): string[] {
  return [
    ...Object.keys(after)
      .filter((name) => name !== 'labels' && name !== 'annotations')
      .map((name) => `metadata.${name} cannot be set: only labels and annotations can`),
    ...['labels', 'annotations'].flatMap((kind) =>
      Object.entries(objectIn(before, kind))
        .filter(([name, value]) => own(objectIn(after, kind), name) !== value)
        .map(([name]) => `metadata.${kind}[${JSON.stringify(name)}] must stay as it is: the run is found again by it`),
    ),
  ];
}

function sidecarProblems(before: JsonObject, after: JsonObject | undefined): string[] {
  const place = `spec.initContainers[${OUTPUTS_CONTAINER}]`;
  if (after === undefined) return [`${place} must stay: it brings the inputs and sends the outputs`];
  return [...changed(place, before, after, SIDECAR_FIELDS), ...mountProblems(place, before, after)];
}

function invocationProblems(before: JsonObject, after: JsonObject | undefined): string[] {
  const place = `spec.containers[${INVOCATION_CONTAINER}]`;
  if (after === undefined) return [`${place} must stay: it is the bundle`];
  const variables = itemsIn(after, 'env');
  return [
    ...changed(place, before, after, INVOCATION_FIELDS),
    ...itemsIn(before, 'env')
      .filter((variable) => !variables.some((other) => isDeepStrictEqual(other, variable)))
      .map(({ name }) => `${place}.env[${text(name)}] must stay as it is: parameters and credentials decide on it`),
    ...mountProblems(place, before, after),
    ...itemsIn(after, 'volumeMounts')
      .map(({ mountPath }) => text(mountPath))
      .filter((path) => path.startsWith(`${OUTPUTS_FOLDER}/`))
      .map((path) => `${place}.volumeMounts[${path}] must not be there: what is written below it is no output`),
  ];
}

function mountProblems(place: string, before: JsonObject, after: JsonObject): string[] {
  const mounts = itemsIn(after, 'volumeMounts');
  return itemsIn(before, 'volumeMounts')
    .filter((mount) => !mounts.some((other) => isDeepStrictEqual(other, mount)))
    .map(
      ({ mountPath }) => `${place}.volumeMounts[${text(mountPath)}] must stay as it is: inputs and outputs go that way`,
    );
}

/** Container restart rules (KEP-5307) would start the bundle again, or keep the pod from ever ending. */
function restartProblems(spec: JsonObject): string[] {
  return itemsIn(spec, 'containers')
    .filter(
      ({ name, restartPolicy, restartPolicyRules }) =>
        name !== INVOCATION_CONTAINER && (restartPolicy ?? restartPolicyRules) !== undefined,
    )
    .map(({ name }) => `spec.containers[${text(name)}].restartPolicy must be absent: the pod would not end`);
}

function volumeProblems(before: JsonObject, after: JsonObject): string[] {
  const volumes = itemsIn(after, 'volumes');
  const ours = itemsIn(before, 'volumes');
  const problems = ours
    .filter((volume) => !volumes.some((other) => isDeepStrictEqual(essence(other), essence(volume))))
    .map(({ name }) => `spec.volumes[${text(name)}] must stay as it is: inputs and outputs go that way`);
  if (before['serviceAccountName'] !== undefined) return problems;
  const withToken = volumes.filter((volume) =>
    itemsIn(objectIn(volume, 'projected'), 'sources').some((source) => source['serviceAccountToken'] !== undefined),
  );
  return [...problems, ...withToken.map(({ name }) => `spec.volumes[${text(name)}] cannot be: ${TOKEN}`)];
}

/** A volume without what may be chosen: how large it may become, and where outputs lie before they are sent. */
function essence(volume: JsonObject): JsonObject {
  const { name, emptyDir } = volume;
  if ((name !== OUTPUTS_VOLUME && name !== FILES_VOLUME) || !isObject(emptyDir)) return volume;
  const { sizeLimit: _size, medium, ...rest } = emptyDir;
  return { ...volume, emptyDir: { ...rest, ...(name === FILES_VOLUME && medium !== undefined ? { medium } : {}) } };
}

function changed(
  place: string,
  before: JsonObject,
  after: JsonObject,
  fields: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(fields)
    .filter(([name]) => !isDeepStrictEqual(told(before, name), told(after, name)))
    .map(([name, reason]) => `${place}.${name} ${mustStay(own(before, name))}: ${reason}`);
}

/** What is off where nothing is said may be said to be off; a token is on where nothing is said. */
const OFF_UNLESS_SAID = ['hostPID', 'shareProcessNamespace', 'tty'];

function told(object: JsonObject, name: string): Json | undefined {
  const value = own(object, name);
  return value === false && OFF_UNLESS_SAID.includes(name) ? undefined : value;
}

function mustStay(value: Json | undefined): string {
  if (value === undefined) return 'must be absent';
  return typeof value === 'object' ? 'must stay as it is' : `must stay ${JSON.stringify(value)}`;
}

function sidecarOf(spec: JsonObject): JsonObject | undefined {
  return itemsIn(spec, 'initContainers').find(({ name }) => name === OUTPUTS_CONTAINER);
}

function invocationOf(spec: JsonObject): JsonObject | undefined {
  return itemsIn(spec, 'containers').find(({ name }) => name === INVOCATION_CONTAINER);
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = own(object, name);
  return isObject(value) ? value : {};
}

function itemsIn(object: JsonObject, name: string): JsonObject[] {
  const value = own(object, name);
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];
}

/** A name as a person wrote it, whatever it is. */
function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function own(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
