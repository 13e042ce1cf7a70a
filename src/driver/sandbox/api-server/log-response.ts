import { ApiError, badRequest, invalid, type StatusCause } from './api-error.js';
import type { Pod, ContainerStatus } from './pod-objects.js';
import type { LogQuery } from './log-reader.js';

/** Parses and checks the options of `pods/log`; `now` in milliseconds. Throws ApiError 400 or 422. */
export function logQuery(pod: string, query: URLSearchParams, now: number): LogQuery & { readonly previous: boolean } {
  const causes: StatusCause[] = [];
  const number = (name: string, least: number, rule: string): number | undefined => {
    const text = query.get(name);
    if (text === null || text === '') return undefined;
    if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
    if (Number(text) < least) {
      causes.push({ reason: 'FieldValueInvalid', message: `Invalid value: ${text}: must be ${rule}`, field: name });
    }
    return Number(text);
  };
  const tailLines = number('tailLines', 0, 'greater than or equal to 0');
  const limitBytes = number('limitBytes', 1, 'greater than 0');
  const ago = number('sinceSeconds', 1, 'greater than 0');
  const sinceTime = query.get('sinceTime');
  if (ago !== undefined && sinceTime !== null) {
    const message = 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified';
    causes.push({ reason: 'FieldValueForbidden', message, field: '' });
  }
  if (causes.length > 0) throw invalid('PodLogOptions', pod, causes);
  const since = sinceTime !== null ? wholeSeconds(sinceTime) : ago === undefined ? undefined : now / 1000 - ago;
  return {
    follow: flag(query, 'follow'),
    timestamps: flag(query, 'timestamps'),
    previous: flag(query, 'previous'),
    ...(since === undefined ? {} : { since }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  };
}

function flag(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  return text !== null && !['', '0', 'f', 'F', 'false', 'False', 'FALSE'].includes(text);
}

function wholeSeconds(text: string): number {
  const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
  const time = rfc3339.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return Math.floor(time / 1000);
  const shown = JSON.stringify(text);
  throw badRequest(`parsing time ${shown} as "2006-01-02T15:04:05Z07:00": cannot parse ${shown} as "2006"`);
}

/** The container that is meant. Throws ApiError 400 when it is none of the pod's, or not the only one. */
export function logContainer(pod: Pod, name: string | null): string {
  const names = pod.spec.containers.map((container) => container.name);
  const inits = (pod.spec.initContainers ?? []).map((container) => container.name);
  if (name !== null && name !== '') {
    if (names.includes(name) || inits.includes(name)) return name;
    throw badRequest(`container ${name} is not valid for pod ${pod.metadata.name}`);
  }
  const annotated = pod.metadata.annotations?.['kubectl.kubernetes.io/default-container'];
  if (annotated !== undefined && names.includes(annotated)) return annotated;
  const [only, ...more] = names;
  if (only !== undefined && more.length === 0) return only;
  const others = inits.length === 0 ? '' : ` or one of the init containers: [${inits.join(' ')}]`;
  throw badRequest(
    `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(' ')}]${others}`,
  );
}

/** Throws ApiError 400 when there is no log to read, by the status that the pod shows. */
export function checkLogStatus(pod: Pod, container: string, previous: boolean): void {
  const { name } = pod.metadata;
  const all: readonly ContainerStatus[] = [
    ...(pod.status.initContainerStatuses ?? []),
    ...(pod.status.containerStatuses ?? []),
  ];
  const status = all.find((entry) => entry.name === container);
  const subject = `container "${container}" in pod "${name}"`;
  if (!status) throw badRequest(`${subject} is waiting to start: ContainerCreating`);
  const { state, lastState } = status;
  if (previous) {
    if (lastState.terminated?.containerID === undefined) throw badRequest(`previous terminated ${subject} not found`);
    return;
  }
  if (state.running || state.terminated?.containerID !== undefined) return;
  if (lastState.terminated?.containerID !== undefined) return;
  if (state.terminated) throw badRequest(`${subject} is terminated`);
  throw new ApiError(400, 'BadRequest', `${subject} is waiting to start: ${waitingFor(state.waiting?.reason ?? '')}`);
}

function waitingFor(reason: string): string {
  if (reason === 'ErrImagePull') return "image can't be pulled";
  return reason === 'ImagePullBackOff' ? 'trying and failing to pull image' : reason;
}
