import type { ClaimStore } from '../../claim/claim-store.js';
import { systemClock, type Clock } from '../../driver/clock.js';
import type { Driver } from '../../driver/driver.js';
import type { DriverSettings } from '../../driver/settings.js';
import type { SignalSource } from '../signals.js';
import type { Surroundings } from '../surroundings.js';
import { openStore } from './open-store.js';

/** What a driver is told of the process that uses it. */
export interface DriverPlace {
  readonly home: string;
  readonly surroundings: Surroundings;
}

/** The collaborators of a command that acts; a test puts its own in place. */
export interface Parts {
  readonly clock: Clock;
  readonly signals: SignalSource;
  readonly openStore: (home: string) => ClaimStore;
  /** Rejects with CnabError `invalid` for a name that no driver has. */
  readonly openDriver: (name: string, settings: DriverSettings, place: DriverPlace) => Promise<Driver>;
}

export function processParts(): Parts {
  return { clock: systemClock, signals: process, openStore, openDriver };
}

async function openDriver(name: string, settings: DriverSettings, place: DriverPlace): Promise<Driver> {
  throw new Error(name + String(settings) + String(place));
}
