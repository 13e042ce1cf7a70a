import { CnabError } from '../errors.js';
import type { Clock } from './clock.js';
import type { Driver } from './driver.js';
import type { DriverSettings } from './settings.js';

/** What drivers are told of the process and the machine they work for. */
export interface DriverSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Base of relative kubeconfig names. */
  readonly cwd: string;
  /** `$CNAB_HOME`: the sandbox keeps its state below it. */
  readonly home: string;
  /** The user's own home folder, for ~/.kube/config. */
  readonly userHome: string;
  readonly clock: Clock;
  /** Of cnab. */
  readonly version: string;
  /** As `process.platform`, `process.getuid()` and `process.execPath` have them. */
  readonly platform: string;
  readonly uid: number;
  readonly execPath: string;
  /** As which process of which machine others see it. */
  readonly pid: number;
  readonly host: string;
  /** What a kubeconfig's credential plugin says while it runs. */
  readonly onPluginOutput?: (chunk: Uint8Array) => void;
  /** A terminal that a credential plugin may ask on. */
  readonly interactive?: boolean;
}

type Create = (settings: DriverSettings, surroundings: DriverSurroundings) => Promise<Driver>;

/** By each name that `--driver` takes. Every driver is loaded only when it is asked for. */
const DRIVERS: ReadonlyMap<string, Create> = new Map([
  ['kubernetes', createKubernetes],
  ['k8s', createKubernetes],
  ['sandbox', createSandbox],
]);

/**
 * The driver of that name; it has spoken to nobody yet. Rejects with CnabError: `invalid` for a name that no driver has,
 * `unavailable` where the sandbox is not to be had on this machine.
 */
export async function createDriver(
  name: string,
  settings: DriverSettings,
  surroundings: DriverSurroundings,
): Promise<Driver> {
  const create = DRIVERS.get(name);
  if (create !== undefined) return await create(settings, surroundings);
  throw new CnabError('invalid', `there is no driver ${JSON.stringify(name)}`, {
    suggestions: [`drivers: ${[...DRIVERS.keys()].join(', ')}`],
  });
}

async function createKubernetes(settings: DriverSettings, surroundings: DriverSurroundings): Promise<Driver> {
  const { KubernetesDriver } = await import('./kubernetes/driver.js');
  const { env, cwd, userHome, clock, onPluginOutput, interactive, pid, host } = surroundings;
  return new KubernetesDriver({
    settings,
    clock,
    process: { pid, host },
    // Loading what reads a kubeconfig takes longer than all the rest, so it waits until a cluster is spoken to.
    connect: async () => {
      const { connectWithKubeconfig } = await import('./kubernetes/client.js');
      return await connectWithKubeconfig({
        env,
        cwd,
        clock,
        home: userHome,
        ...(settings.kubeconfig === undefined ? {} : { kubeconfig: settings.kubeconfig }),
        ...(settings.context === undefined ? {} : { context: settings.context }),
        ...(onPluginOutput === undefined ? {} : { onPluginOutput }),
        ...(interactive === undefined ? {} : { interactive }),
      });
    },
  });
}

async function createSandbox(settings: DriverSettings, surroundings: DriverSurroundings): Promise<Driver> {
  const { createSandboxDriver } = await import('./sandbox/driver.js');
  const { home, clock, version, platform, uid, execPath } = surroundings;
  return await createSandboxDriver(settings, { home, clock, version, platform, uid, execPath });
}
