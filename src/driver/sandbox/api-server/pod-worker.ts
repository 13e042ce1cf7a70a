import { rmSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../errors.js';
import { startContainer } from './container-start.js';
import { stopPod } from './container-stop.js';
import { timestamp } from './objects.js';
import type { Pod } from './pod-objects.js';
import { containersOf, graceOf, podFolder, secretsOf } from './pod-node.js';
import type { PodContainer, PodNode, PodState } from './pod-node.js';
import { isInitialized, podStatus } from './pod-status.js';
import { setUpVolume } from './volumes.js';

/** What follows a sync: `ended` for good, `again` at once, or a wait for news, at most so many milliseconds. */
type Next = 'ended' | 'again' | { readonly waitMs: number };

const FOREVER = 2 ** 31 - 1;
const MAX_MOUNT_RETRY_MS = 122_000;

/**
 * The life of one pod on the node. Like the real kubelet's pod worker it is a loop of syncs, and the status that a sync
 * publishes is the one at its *beginning*: so a waiting reason that a sync finds is seen only with the next one.
 */
export class PodWorker {
  readonly state: PodState;
  /** Settles when all is over and the status is final. */
  readonly done: Promise<void>;
  #stop = new AbortController();
  #graceMs: number;
  #evicted: string | undefined;
  #final = false;
  readonly #begin: number;
  #mountRetryMs: number;
  #waitsForSecrets = false;
  #news = false;
  #wake: () => void = () => undefined;

  constructor(
    private readonly node: PodNode,
    pod: Pod,
  ) {
    const startTime = timestamp(node.clock.now());
    this.state = { pod, containers: containersOf(pod), volumeFolders: new Map(), sandbox: 'none', startTime };
    this.#graceMs = graceOf(pod);
    this.#begin = node.clock.now();
    this.#mountRetryMs = node.settings.mountRetryMs;
    mkdirSync(podFolder(node, pod), { recursive: true, mode: 0o700 });
    this.done = this.#run();
  }

  /** Asks for the end. Only the first grace period counts, also when the pod is already stopping by itself. */
  stop(graceMs: number): void {
    if (this.#stop.signal.aborted) return;
    this.#graceMs = graceMs;
    this.#stop.abort();
    this.#tellNews();
  }

  /** Kills the pod as the eviction manager does: no grace, no statuses, no logs. */
  evict(message: string): void {
    if (this.#stop.signal.aborted) return;
    this.#evicted = message;
    this.#publish();
    const text = { type: 'Warning', reason: 'Evicted', message } as const;
    this.node.events.record(this.state.pod, text);
    this.stop(0);
  }

  /** A Secret of the namespace has come. */
  secretArrived(): void {
    if (this.#waitsForSecrets) this.#tellNews();
  }

  container(name: string): PodContainer | undefined {
    return this.state.containers.find((record) => record.container.name === name);
  }

  /** Removes what the pod left on the disk. */
  remove(): void {
    this.#removeFolders(podFolder(this.node, this.state.pod), this.#memory());
  }

  #removeFolders(...folders: readonly string[]): void {
    for (const folder of folders) {
      try {
        rmSync(folder, { recursive: true, force: true });
      } catch (error) {
        this.node.onBug(error);
      }
    }
  }

  async #run(): Promise<void> {
    for (;;) {
      const next = this.#stop.signal.aborted ? 'ended' : await this.#sync();
      if (next === 'ended') break;
      if (next !== 'again') await this.#waitForNews(next.waitMs);
    }
    await this.#terminate();
  }

  async #sync(): Promise<Next> {
    this.#news = false;
    const mains = this.state.containers.filter((record) => record.role === 'main');
    const ended = mains.every((record) => this.#hasEnded(record));
    // Nothing waits any more for a start that will not come.
    if (ended) for (const record of this.state.containers) delete record.waiting;
    this.#publish();
    if (ended) return this.#stopSidecars();
    const mounted = this.#mount();
    if (mounted !== true) return mounted;
    if (this.state.sandbox === 'none') {
      this.state.sandbox = 'ready';
      this.#publish();
    }
    let failed = false;
    for (const record of this.state.containers) {
      if (record.role === 'main' && !this.#initialized()) break;
      if (record.running || this.#hasEnded(record)) {
        if (record.running && record.role === 'init') break;
        if (record.role === 'init' && record.terminated?.exitCode !== 0) return this.#stopSidecars();
        continue;
      }
      const { node, state } = this;
      const ok = await startContainer({ node, state, record, signal: this.#stop.signal, onExit: this.#noticeEnd });
      if (this.#stop.signal.aborted) return 'again';
      failed ||= !ok;
      if (ok && record.role === 'sidecar') this.#publish();
      if (!isInitialized(record) && record.role !== 'main') break;
    }
    this.#publishStarted(failed);
    return { waitMs: failed ? this.node.settings.syncRetryMs : FOREVER };
  }

  /** What has just been started is seen at once, what has just failed only at the next sync. */
  #publishStarted(failed: boolean): void {
    if (!failed) this.#publish();
  }

  #initialized(): boolean {
    return this.state.containers.every((record) => record.role === 'main' || isInitialized(record));
  }

  /** It will not be started again. */
  #hasEnded(record: PodContainer): boolean {
    if (record.role === 'sidecar' || !record.terminated || record.running) return false;
    const policy = this.state.pod.spec.restartPolicy;
    return (
      policy === 'Never' || (record.terminated.exitCode === 0 && (policy === 'OnFailure' || record.role === 'init'))
    );
  }

  /** The regular containers have ended, or an init container has failed for good. */
  async #stopSidecars(): Promise<Next> {
    await stopPod(this.node, this.state, graceOf(this.state.pod));
    return 'ended';
  }

  #mount(): true | Next {
    const { pod, volumeFolders } = this.state;
    try {
      for (const volume of pod.spec.volumes ?? []) {
        const inMemory = volume.emptyDir ? volume.emptyDir.medium === 'Memory' : true;
        const root = inMemory ? this.#memory() : join(podFolder(this.node, pod), 'volumes');
        mkdirSync(root, { recursive: true, mode: 0o700 });
        volumeFolders.set(volume.name, setUpVolume(root, volume, secretsOf(this.node, pod)));
      }
      this.#waitsForSecrets = false;
      return true;
    } catch (error) {
      const patience = this.#begin + this.node.settings.mountPatienceMs - this.node.clock.now();
      this.#waitsForSecrets = patience > 0;
      if (patience > 0) return { waitMs: patience };
      this.node.events.record(pod, { type: 'Warning', reason: 'FailedMount', message: messageOf(error) });
      const waitMs = this.#mountRetryMs;
      this.#mountRetryMs = Math.min(waitMs * 2, MAX_MOUNT_RETRY_MS);
      return { waitMs };
    }
  }

  #memory(): string {
    return join(this.node.memoryFolder, this.state.pod.metadata.uid);
  }

  async #terminate(): Promise<void> {
    if (this.state.containers.some((record) => record.process)) {
      for (const record of this.state.containers) delete record.waiting;
      this.#publish();
    }
    await stopPod(this.node, this.state, this.#graceMs);
    // What it could not remove must not keep the pod from its end.
    await this.node.runtime.removePod(this.state.pod.metadata.uid).catch(this.node.onBug);
    this.state.sandbox = 'gone';
    if (this.#evicted === undefined) {
      if (!this.#stop.signal.aborted) this.#publish();
    } else {
      this.#forgetContainers();
    }
    this.#final = true;
    this.#publish();
    this.#removeFolders(this.#memory(), join(podFolder(this.node, this.state.pod), 'volumes'));
  }

  /** After an eviction the kubelet finds no container and no log any more. */
  #forgetContainers(): void {
    for (const record of this.state.containers) delete record.terminated;
    this.#removeFolders(join(podFolder(this.node, this.state.pod), 'logs'));
  }

  #publish(): void {
    const { pod, containers, sandbox, startTime } = this.state;
    const { namespace, name, uid } = pod.metadata;
    this.node.store.update('pods', namespace, name, (current) => {
      if (current.metadata.uid !== uid) return current;
      const evicted = this.#evicted === undefined ? {} : { evicted: this.#evicted };
      const view = { pod: current, records: containers, startTime, sandbox, final: this.#final, ...evicted };
      const status = podStatus(view, this.node.clock.now());
      return isDeepStrictEqual(status, current.status) ? current : { ...current, status };
    });
  }

  readonly #noticeEnd = (): void => {
    const { relistMs } = this.node.settings;
    if (relistMs === 0) this.#tellNews();
    else void this.node.clock.sleep(relistMs).then(() => this.#tellNews());
  };

  #tellNews(): void {
    this.#news = true;
    this.#wake();
  }

  async #waitForNews(ms: number): Promise<void> {
    if (this.#news || this.#stop.signal.aborted) return;
    const over = new AbortController();
    const news = new Promise<void>((resolve) => (this.#wake = resolve));
    const timer = ms === FOREVER ? news : this.node.clock.sleep(ms, over.signal).catch(() => undefined);
    await Promise.race([news, timer]);
    this.#wake = () => undefined;
    over.abort();
  }
}
