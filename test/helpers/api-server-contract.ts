import type { ContainerStatus, Pod } from '../../src/driver/sandbox/api-server/pod-objects.js';
import type { ClusterEvent, Job } from '../../src/driver/sandbox/api-server/objects.js';
import type { IncomingMessage } from 'node:http';
import { sampleJob, type JobParts } from './api-server-jobs.js';
import { execPath, type ExecAnswer, type ExecClientOptions } from './exec-client.js';
import { until } from './until.js';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A cluster, as far as the contract needs one: HTTP and a namespace of its own that nobody else uses. */
export interface ContractCluster {
  readonly namespace: string;
  /** A namespace that enforces `restricted`. */
  readonly restricted: string;
  /** A shell with busybox's programs. */
  readonly image: string;
  /** That its pods need. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Its kubelet may pass over a state of a pod that does not last. */
  readonly mergesStatuses: boolean;
  request(method: string, path: string, body?: object): Promise<RawAnswer>;
  /** Resolves when the answer begins; calls `line` for each of its lines until the returned function is called. */
  stream(path: string, line: (text: string) => void): Promise<() => void>;
  exec(path: string, options?: ExecClientOptions): Promise<ExecAnswer>;
}

/** One Job on the cluster and all that a watch shows of its pod. */
export class ContractJob {
  /** What the watch showed, consecutive repetitions left out. */
  readonly changes: string[] = [];
  pod: Pod | undefined;
  #close = (): void => undefined;

  constructor(
    readonly cluster: ContractCluster,
    readonly name: string,
    readonly namespace = cluster.namespace,
  ) {}

  get path(): string {
    return `/apis/batch/v1/namespaces/${this.namespace}/jobs/${this.name}`;
  }

  get podPath(): string {
    return `/api/v1/namespaces/${this.namespace}/pods/${this.pod?.metadata.name}`;
  }

  async create(parts: JobParts = {}): Promise<RawAnswer> {
    const selector = `labelSelector=job-name%3D${this.name}`;
    this.#close = await this.cluster.stream(`/api/v1/namespaces/${this.namespace}/pods?watch=1&${selector}`, (text) => {
      const event = JSON.parse(text) as { type: string; object: Pod };
      this.pod = event.object;
      const line = describePod(event.type, event.object);
      if (this.changes.at(-1) !== line) this.changes.push(line);
    });
    const { image, annotations } = this.cluster;
    const sidecarFields = { image, ...parts.sidecarFields };
    const invocationFields = { image, ...parts.invocationFields };
    const job = sampleJob({
      ...(annotations ? { annotations } : {}),
      ...parts,
      name: this.name,
      sidecarFields,
      invocationFields,
    });
    return this.cluster.request('POST', this.path.replace(/\/[^/]*$/, ''), job);
  }

  /** Until the watch has shown a line that begins so. */
  async shows(begin: string): Promise<void> {
    await until(`the pod of ${this.name} shows "${begin}", not only\n${this.changes.join('\n')}`, () =>
      Promise.resolve(this.changes.some((line) => line.startsWith(begin))),
    );
  }

  async finished(): Promise<Job> {
    let job: Job | undefined;
    await until(`${this.name} is finished`, async () => {
      job = JSON.parse((await this.cluster.request('GET', this.path)).text) as Job;
      return (job.status.conditions ?? []).some(({ type }) => type === 'Complete' || type === 'Failed');
    });
    return job as Job;
  }

  async events(): Promise<ClusterEvent[]> {
    const { text } = await this.cluster.request('GET', `/api/v1/namespaces/${this.namespace}/events`);
    const { items } = JSON.parse(text) as { items: ClusterEvent[] };
    return items.filter(({ involvedObject }) => involvedObject.name.startsWith(this.name));
  }

  log(query: string): Promise<RawAnswer> {
    return this.cluster.request('GET', `${this.podPath}/log?${query}`);
  }

  exec(container: string, command: readonly string[], options?: ExecClientOptions): Promise<ExecAnswer> {
    return this.cluster.exec(execPath(this.podPath, container, command), options);
  }

  async remove(): Promise<void> {
    this.#close();
    await this.cluster.request('DELETE', `${this.path}?propagationPolicy=Background`);
  }
}

/** For `stream`: hands on the lines of an answer. */
export function eachLine(response: IncomingMessage, line: (text: string) => void): void {
  let rest = '';
  response.setEncoding('utf8');
  response.on('error', () => undefined);
  response.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(line);
  });
}

function describePod(type: string, { metadata, status }: Pod): string {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const deleted = metadata.deletionTimestamp === undefined ? '' : ` deleted ${metadata.deletionGracePeriodSeconds}`;
  return [`${type} ${status.phase}${deleted}`, ...statuses.map(describeContainer)].join(', ');
}

function describeContainer({ name, state, restartCount }: ContainerStatus): string {
  const again = restartCount === 0 ? '' : ` restarts ${restartCount}`;
  if (state.running) return `${name} running${again}`;
  if (state.terminated) return `${name} ${state.terminated.reason} ${state.terminated.exitCode}${again}`;
  return `${name} ${state.waiting?.reason}${again}`;
}
