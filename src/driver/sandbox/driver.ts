import { resolve } from 'node:path';
import type { Target } from '../../claim/target.js';
import { CnabError } from '../../errors.js';
import type { Clock } from '../clock.js';
import type {
  BegunRun,
  Driver,
  DriverIo,
  FoundRun,
  Operation,
  OperationResult,
  RunEnd,
  RunInputs,
  RunSight,
} from '../driver.js';
import { plainConnection } from '../kubernetes/connection.js';
import { KubernetesDriver } from '../kubernetes/driver.js';
import { notRunResult } from '../kubernetes/result.js';
import type { DriverSettings } from '../settings.js';
import { BUNDLE_FOLDER_ANNOTATION, bundleFolderProblem } from './namespaces/bundle-folder.js';
import { probe } from './namespaces/probe.js';
import { serverCommand } from './server-command.js';
import { findOrStartServer } from './server-start.js';

export interface SandboxDriverOptions {
  /** `$CNAB_HOME`; the sandbox keeps its state in `<home>/sandbox`. */
  readonly home: string;
  readonly clock: Clock;
  /** Of cnab: an API server of another version is left alone. */
  readonly version: string;
  readonly platform: string;
  readonly uid: number;
  /** Absolute path of node. */
  readonly execPath: string;
  /** Absent: that of `serverCommand(execPath)`. */
  readonly serverCommand?: readonly string[];
}

/** For people, once per run. */
const SANDBOX_NETWORK_NOTE = "the sandbox shares this machine's network";

/**
 * The embedded stand-in for a cluster: the Kubernetes driver as it is, over a loopback API server whose containers are
 * namespaces of this machine. Rejects with CnabError `unavailable` where namespaces are not to be had; starts nothing yet.
 */
export async function createSandboxDriver(settings: DriverSettings, options: SandboxDriverOptions): Promise<Driver> {
  await probe(options.platform, options.uid);
  return new SandboxDriver(settings, options);
}

export class SandboxDriver implements Driver {
  readonly #inner: KubernetesDriver;

  constructor(settings: DriverSettings, { home, clock, version, ...options }: SandboxDriverOptions) {
    const start = {
      folder: resolve(home, 'sandbox'),
      version,
      clock,
      serverCommand: options.serverCommand ?? serverCommand(options.execPath),
    };
    this.#inner = new KubernetesDriver({
      settings: sandboxSettings(settings),
      clock,
      annotationsOf: ({ bundleFolder }) =>
        bundleFolder === undefined ? {} : { [BUNDLE_FOLDER_ANNOTATION]: resolve(bundleFolder) },
      connect: async (signal) => {
        const { port, token } = await findOrStartServer(start, signal);
        const server = `http://127.0.0.1:${port}`;
        return plainConnection({ server, token, namespace: 'default', context: 'sandbox', isPrivate: true });
      },
    });
  }

  target(): Promise<Target> {
    return Promise.resolve({ id: 'sandbox', driver: 'sandbox', label: 'sandbox' });
  }

  /** The bundle's folder stands for an image of either kind. */
  handles(imageType: string): boolean {
    return imageType === 'oci' || imageType === 'docker';
  }

  check(operation: Operation): void {
    const { bundleFolder, bundleName, serviceAccount } = operation;
    if (bundleFolder === undefined) {
      throw new CnabError('invalid', `the sandbox runs the folder of a bundle, and ${bundleName} came without one`, {
        suggestions: ['name a folder that holds bundle.json and cnab/app/run'],
      });
    }
    const problem = bundleFolderProblem(bundleFolder);
    if (problem !== undefined) {
      throw new CnabError('invalid', `the sandbox cannot run ${bundleName}: ${problem}`, {
        suggestions: ['the sandbox runs the program cnab/app/run beside bundle.json; images run on a cluster'],
      });
    }
    if (serviceAccount !== undefined) {
      throw new CnabError(
        'invalid',
        `the sandbox has no service account ${JSON.stringify(serviceAccount)}, because it is no cluster`,
        {
          suggestions: ['leave out --service-account'],
        },
      );
    }
    this.#inner.check(operation);
  }

  preview(operation: Operation): readonly object[] {
    this.check(operation);
    return this.#inner.preview(operation);
  }

  async run(operation: Operation, io: DriverIo): Promise<OperationResult> {
    try {
      this.check(operation);
    } catch (error) {
      if (error instanceof CnabError) return notRunResult(error, 'failed');
      throw error;
    }
    io.onProgress({ phase: 'preparing', detail: SANDBOX_NETWORK_NOTE });
    return this.#inner.run(operation, io);
  }

  hold(run: Pick<BegunRun, 'runId' | 'state'>, how: Parameters<Driver['hold']>[1]): Promise<void> {
    return this.#inner.hold(run, how);
  }

  resume(run: BegunRun, io: DriverIo): Promise<OperationResult> {
    return this.#inner.resume(run, io);
  }

  find(installation: string, signal: AbortSignal): Promise<readonly FoundRun[]> {
    return this.#inner.find(installation, signal);
  }

  inputs(run: Pick<BegunRun, 'runId' | 'state'>, signal: AbortSignal): Promise<RunInputs> {
    return this.#inner.inputs(run, signal);
  }

  follow(
    run: Pick<BegunRun, 'runId' | 'state'>,
    io: Pick<DriverIo, 'signal' | 'onLog'>,
  ): Promise<{ readonly complete: boolean }> {
    return this.#inner.follow(run, io);
  }

  watch(run: Pick<BegunRun, 'runId' | 'state'>, io: Pick<DriverIo, 'signal' | 'onProgress'>): Promise<RunEnd> {
    return this.#inner.watch(run, io);
  }

  look(run: Parameters<Driver['look']>[0], signal: AbortSignal): Promise<RunSight> {
    return this.#inner.look(run, signal);
  }

  release(run: Pick<BegunRun, 'runId' | 'state'>): Promise<readonly string[]> {
    return this.#inner.release(run);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** What chooses a cluster or a place in it has no meaning here. */
function sandboxSettings(settings: DriverSettings): DriverSettings {
  const { kubeconfig: _kubeconfig, context: _context, namespace: _namespace, podPatch: _podPatch, ...rest } = settings;
  return { ...rest, createNamespace: false, imagePullSecrets: [] };
}
