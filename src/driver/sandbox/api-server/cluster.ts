import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../clock.js';
import type { ContainerRuntime } from './container-runtime.js';
import { EventRecorder } from './event-recorder.js';
import type { Faults } from './faults.js';
import { collectGarbage } from './garbage-collector.js';
import { JobController } from './job-controller.js';
import { Kubelet } from './kubelet.js';
import type { KubeletSettings } from './kubelet-settings.js';
import { namespaceDraft } from './defaults.js';
import { ObjectStore } from './object-store.js';
import { createPod } from './pod-admission.js';
import { publishRootCa } from './root-ca.js';
import { schedulePods } from './scheduler.js';

export interface ClusterOptions {
  readonly clock: Clock;
  readonly runtime: ContainerRuntime;
  readonly faults: Faults;
  readonly kubelet: KubeletSettings;
  /** State of the pods; made with mode 0700. */
  readonly folder: string;
  readonly memoryFolder: string;
  readonly namespaces: readonly { readonly name: string; readonly labels?: Readonly<Record<string, string>> }[];
  readonly serviceAccounts: readonly string[];
  readonly onBug: (error: unknown) => void;
}

/** Everything behind the HTTP interface: the objects, the controllers and the node. */
export class Cluster {
  readonly store: ObjectStore;
  readonly kubelet: Kubelet;
  readonly faults: Faults;
  readonly clock: Clock;
  readonly serviceAccounts: readonly string[];
  readonly #jobs: JobController;
  readonly #ends: (() => void)[];

  constructor(options: ClusterOptions) {
    const { clock, runtime, faults, kubelet, memoryFolder, onBug } = options;
    this.clock = clock;
    this.faults = faults;
    this.serviceAccounts = options.serviceAccounts;
    const store = new ObjectStore(clock);
    this.store = store;
    const folder = join(options.folder, 'pods');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    mkdirSync(memoryFolder, { recursive: true, mode: 0o700 });
    const recorder = (component: string, host?: string): EventRecorder =>
      new EventRecorder(store, clock, component, host);
    this.#ends = [publishRootCa(store)];
    for (const { name, labels } of options.namespaces) {
      store.create('namespaces', namespaceDraft({ metadata: { name, ...(labels ? { labels } : {}) } }));
    }
    const refuse = (pod: { metadata: { name: string } }): string | undefined =>
      faults.unschedulable?.(pod.metadata.name);
    this.#ends.push(
      schedulePods(store, clock, recorder('default-scheduler'), kubelet.nodeName, refuse),
      collectGarbage(store, clock),
    );
    const events = recorder('kubelet', kubelet.nodeName);
    this.kubelet = new Kubelet({ store, clock, runtime, events, settings: kubelet, folder, memoryFolder, onBug });
    this.#jobs = new JobController(
      store,
      clock,
      recorder('job-controller'),
      (draft) => createPod(store, this.serviceAccounts, faults, draft),
      onBug,
    );
  }

  /** Resolves when there is no Job and no pod. */
  async idle(): Promise<void> {
    const busy = (): boolean => this.store.list('jobs').length + this.store.list('pods').length > 0;
    if (!busy()) return;
    await new Promise<void>((resolve) => {
      const stop = this.store.listen(() => {
        if (busy()) return;
        stop();
        resolve();
      });
    });
  }

  /** Kills what runs and stops everything. */
  async close(): Promise<void> {
    this.#jobs.close();
    await this.kubelet.close();
    for (const end of this.#ends) end();
  }
}
