import type { TestAnswer, TestApiServer } from './api-server.js';
import type { ClusterEvent, Job } from '../../src/driver/sandbox/api-server/objects.js';
import type { ContainerState, Pod } from '../../src/driver/sandbox/api-server/pod-objects.js';

type Given = Readonly<Record<string, unknown>>;

export interface JobParts {
  readonly name?: string;
  /** Shell script of the sidecar; absent: it ends with the first SIGTERM. */
  readonly sidecar?: string;
  readonly sidecarFields?: Given;
  /** Shell script of the invocation container. */
  readonly invocation?: string;
  readonly invocationFields?: Given;
  readonly pod?: Given;
  readonly spec?: Given;
  /** Of the Job and its pod. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Of its pod. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Sets its trap, says that it is ready, and waits for SIGTERM. */
const UNTIL_TERM = `trap 'T=1' TERM; : > "$CNAB_ROOT/cnab/app/outputs/.ready"; while [ -z "$T" ]; do sleep 0.02 & wait $!; done; exit 0`;
const GATE = 'until [ -e "$CNAB_ROOT/cnab/app/outputs/.ready" ]; do sleep 0.02; done';

/** A Job in the shape of the Kubernetes driver: a native sidecar `outputs`, then `invocation`; both see /cnab/app/outputs. */
export function sampleJob(parts: JobParts = {}): Given {
  const volumeMounts = [{ name: 'outputs', mountPath: '/cnab/app/outputs' }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: parts.name ?? 'sample', ...(parts.labels ? { labels: parts.labels } : {}) },
    spec: {
      backoffLimit: 0,
      ...parts.spec,
      template: {
        metadata: { labels: parts.labels ?? {}, annotations: parts.annotations ?? {} },
        spec: {
          restartPolicy: 'Never',
          terminationGracePeriodSeconds: 600,
          initContainers: [
            {
              name: 'outputs',
              image: 'busybox:1.37.0',
              restartPolicy: 'Always',
              command: ['sh', '-c', (parts.sidecar ?? UNTIL_TERM).replaceAll('$(', '$$(').replaceAll('$$!', '$!')],
              volumeMounts,
              // Without it SIGTERM can come before the trap is set.
              ...(parts.sidecar === undefined
                ? { lifecycle: { postStart: { exec: { command: ['sh', '-c', GATE] } } } }
                : {}),
              ...parts.sidecarFields,
            },
          ],
          containers: [
            {
              name: 'invocation',
              image: 'example/bundle:1.0.0',
              command: ['sh', '-c', parts.invocation ?? 'echo hello'],
              volumeMounts,
              ...parts.invocationFields,
            },
          ],
          volumes: [{ name: 'outputs', emptyDir: {} }],
          ...parts.pod,
        },
      },
    },
  };
}

/** Creates a Job in `default` and gives it as the server answered; throws with the answer's text when it did not. */
export async function createJob(server: TestApiServer, parts: JobParts = {}): Promise<Job> {
  const answer = await server.request('POST', '/apis/batch/v1/namespaces/default/jobs', sampleJob(parts));
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.json<Job>();
}

/** The pods of a Job right now, straight from the store. */
export function podsOf(server: TestApiServer, job: Job): Pod[] {
  const mine = (pod: Pod): boolean => pod.metadata.labels?.['controller-uid'] === job.metadata.uid;
  return server.cluster.store.list('pods', job.metadata.namespace).filter(mine);
}

/** Resolves with the Job's (only) pod as soon as it is as wanted. */
export function podWhen(server: TestApiServer, job: Job, wanted: (pod: Pod) => boolean = () => true): Promise<Pod> {
  return new Promise((resolve) => {
    const look = (): boolean => {
      const pod = podsOf(server, job).find(wanted);
      if (pod) resolve(pod);
      return pod !== undefined;
    };
    if (look()) return;
    const stop = server.cluster.store.listen(() => {
      if (look()) stop();
    });
  });
}

/** Resolves with the Job as soon as it is as wanted. */
export function jobWhen(server: TestApiServer, job: Job, wanted: (job: Job) => boolean): Promise<Job> {
  return new Promise((resolve) => {
    const look = (): boolean => {
      const now = server.cluster.store.get('jobs', job.metadata.namespace, job.metadata.name);
      if (now && wanted(now)) resolve(now);
      return now !== undefined && wanted(now);
    };
    if (look()) return;
    const stop = server.cluster.store.listen(() => {
      if (look()) stop();
    });
  });
}

export function isFinished(job: Job): boolean {
  return (job.status.conditions ?? []).some(({ type }) => type === 'Complete' || type === 'Failed');
}

/** Every change of the Job's pods from now on, as short texts: type, phase, states of the containers. */
export function recordPods(server: TestApiServer): string[] {
  const lines: string[] = [];
  server.cluster.store.listen(({ resource, type, object }) => {
    if (resource !== 'pods') return;
    const { status, metadata } = object as Pod;
    const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
    const states = all.map(({ name, state }) => {
      if (state.running) return `${name} running`;
      if (state.terminated) return `${name} ${state.terminated.reason} ${state.terminated.exitCode}`;
      return `${name} ${state.waiting?.reason}`;
    });
    const deleted = metadata.deletionTimestamp === undefined ? '' : ` deleted ${metadata.deletionGracePeriodSeconds}`;
    lines.push([`${type} ${status.phase}${deleted}`, ...states].join(', '));
  });
  return lines;
}

export function eventsAbout(server: TestApiServer, name: string): ClusterEvent[] {
  return server.cluster.store.list('events').filter((event) => event.involvedObject.name.startsWith(name));
}

/** Turns a container's log over now, as the kubelet does when it is too large. */
export function rotateLog(server: TestApiServer, pod: Pod, container: string): void {
  server.cluster.kubelet.log(pod, container, false)?.rotate();
}

/** Kills the pod as under disk pressure: its containers' ends and logs are lost. */
export function evictPod(server: TestApiServer, pod: Pod, message = 'The node was low on resource: memory.'): void {
  server.cluster.kubelet.worker(pod.metadata.uid)?.evict(message);
}

/** GET of a container's log; `query` as in `follow=true&timestamps=true`. */
export function readLog(server: TestApiServer, pod: Pod, container: string, query = ''): Promise<TestAnswer> {
  const { name, namespace } = pod.metadata;
  return server.request('GET', `/api/v1/namespaces/${namespace}/pods/${name}/log?container=${container}&${query}`);
}

/** State of a container in a pod's status. */
export function stateOf(pod: Pod, container: string): ContainerState {
  const all = [...(pod.status.initContainerStatuses ?? []), ...(pod.status.containerStatuses ?? [])];
  return all.find(({ name }) => name === container)?.state ?? {};
}
