import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Context } from 'mocha';
import { ROOT } from '../helpers/run-cnab.js';
import { eventually } from './eventually.js';

const run = promisify(execFile);

export interface AuditEntry {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly responseStatus?: { readonly code?: number };
  readonly objectRef?: { readonly namespace?: string; readonly resource?: string; readonly subresource?: string };
}

/** The node that `test/cluster/up` has started, where a test does more to it than its API allows. */
export class OwnNode {
  constructor(readonly state: string) {}

  /** Kills it without a word and starts it again. */
  async restart(component: 'apiserver' | 'kubelet'): Promise<void> {
    await run(join(ROOT, 'test/cluster/restart'), [component]);
  }

  /** What the API server was asked, oldest first. */
  async audit(wanted: (entry: AuditEntry) => boolean): Promise<readonly AuditEntry[]> {
    const lines = (await readFile(join(this.state, 'log/audit.log'), 'utf8')).split('\n');
    return lines
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as AuditEntry)
      .filter(wanted);
  }

  /** The folders of a container's control group, one for each hierarchy of v1. */
  async cgroups(containerId: string, hierarchy: string): Promise<readonly string[]> {
    const id = containerId.replace(/^.*:\/\//, '');
    const base = existsSync('/sys/fs/cgroup/cgroup.controllers') ? '/sys/fs/cgroup' : join('/sys/fs/cgroup', hierarchy);
    const { stdout } = await run('find', [base, '-type', 'd', '-name', id]);
    return stdout.split('\n').filter((line) => line !== '');
  }

  /** Kills what runs in a container, as the kernel does when memory is short. */
  async killContainer(containerId: string): Promise<void> {
    const folders = await this.cgroups(containerId, 'pids');
    for (const folder of folders) {
      const pids = (await readFile(join(folder, 'cgroup.procs'), 'utf8')).split('\n').filter((line) => line !== '');
      for (const pid of pids) killIfThere(Number(pid));
    }
    if (folders.length === 0) throw new Error(`no control group of container ${containerId}`);
  }

  /**
   * Leaves a container about so much memory and no more, from now on. The kernel refuses a limit below what is in use at the
   * moment (EBUSY with control groups v1), and that goes up and down with each process in it.
   */
  async limitMemory(containerId: string, bytes: number): Promise<void> {
    const [folder] = await this.cgroups(containerId, 'memory');
    if (folder === undefined) throw new Error(`no control group of container ${containerId}`);
    const file = ['memory.limit_in_bytes', 'memory.max'].find((name) => existsSync(join(folder, name)));
    let limit = bytes;
    await eventually(`a memory limit of ${bytes} bytes`, 10, async () => {
      await writeFile(join(folder, file ?? ''), String(limit)).finally(() => (limit += 4096));
      return true;
    });
  }

  /** Makes an empty file in an emptyDir of a pod, as something in the pod would. */
  async writeToVolume(podUid: string, volume: string, file: string): Promise<void> {
    const folder = join(this.state, 'kubelet/pods', podUid, 'volumes/kubernetes.io~empty-dir', volume);
    await writeFile(join(folder, file), '');
  }

  /** Makes the container runtime ask `url` when it pulls from `registry`. Returns how to take it back. */
  async registryAt(registry: string, url: string): Promise<() => Promise<void>> {
    const folder = join(this.state, 'certs.d', registry);
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'hosts.toml'),
      `server = "${url}"\n[host."${url}"]\n  capabilities = ["pull", "resolve"]\n`,
    );
    return () => rm(folder, { recursive: true });
  }

  /** Folder with the keys of the node: authorities and the one that signs service accounts' tokens. */
  get keys(): string {
    return join(this.state, 'pki');
  }

  /** Folders that a pod has left on the node. */
  async podFolders(uid: string): Promise<readonly string[]> {
    return (await readdir(join(this.state, 'kubelet/pods'))).filter((name) => name === uid);
  }
}

/** What a shell has started may have ended meanwhile. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Undefined on a cluster of somebody else's. */
export function ownNode(): OwnNode | undefined {
  const state = process.env['CNAB_CLUSTER_DIR'];
  return state === undefined || state === '' ? undefined : new OwnNode(state);
}

/** The node, or a skip of the running test. */
export function needsOwnNode(test: Context): OwnNode {
  const node = ownNode();
  return node ?? test.skip();
}
