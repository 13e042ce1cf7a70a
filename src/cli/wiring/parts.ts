import { homedir, hostname } from 'node:os';
import type { ClaimStore } from '../../claim/claim-store.js';
import { systemClock, type Clock } from '../../driver/clock.js';
import type { Driver } from '../../driver/driver.js';
import type { DriverSettings } from '../../driver/settings.js';
import type { SignalSource } from '../signals.js';
import type { Surroundings } from '../surroundings.js';
import { openStore } from './open-store.js';

/** What a driver is told of the command that uses it. */
export interface DriverPlace {
  readonly home: string;
  readonly surroundings: Surroundings;
  /** Of cnab. */
  readonly version: string;
  /** What a kubeconfig's credential plugin says while it runs. */
  readonly onPluginOutput: (chunk: Uint8Array) => void;
}

/** The collaborators of a command that acts; a test puts its own in place. */
export interface Parts {
  readonly clock: Clock;
  readonly signals: SignalSource;
  readonly openStore: (home: string) => ClaimStore;
  /** Rejects with CnabError: `invalid` for a name that no driver has, `unavailable` where it is not to be had here. */
  readonly openDriver: (name: string, settings: DriverSettings, place: DriverPlace) => Promise<Driver>;
}

export function processParts(): Parts {
  return { clock: systemClock, signals: process, openStore, openDriver };
}

/** The registry is read when a driver is needed: commands that need none do not pay for it. */
async function openDriver(name: string, settings: DriverSettings, place: DriverPlace): Promise<Driver> {
  const { createDriver } = await import('../../driver/registry.js');
  const { home, version, onPluginOutput, surroundings } = place;
  const { env, cwd, stdin } = surroundings;
  return createDriver(name, settings, {
    ...{ env, cwd, home, version, onPluginOutput },
    userHome: env['HOME'] ?? homedir(),
    clock: systemClock,
    platform: process.platform,
    uid: process.getuid?.() ?? -1,
    execPath: process.execPath,
    pid: process.pid,
    host: hostname(),
    interactive: stdin.isTTY === true,
  });
}
