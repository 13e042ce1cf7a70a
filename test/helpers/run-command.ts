import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { PassThrough, type Writable } from 'node:stream';
import { Config } from '@oclif/core/config';
import type { BaseCommand } from '../../src/cli/base-command.js';
import type { ActionCommand } from '../../src/cli/wiring/action-command.js';
import type { Parts } from '../../src/cli/wiring/parts.js';
import { systemClock } from '../../src/driver/clock.js';
import type { Driver } from '../../src/driver/driver.js';
import { storeAt } from './recorded-installation.js';
import { ROOT } from './run-cnab.js';

export interface InProcess {
  readonly home: string;
  readonly driver: Driver;
  readonly env?: Readonly<Record<string, string>>;
  readonly parts?: Partial<Parts>;
  readonly signals?: EventEmitter;
  readonly input?: string;
  /** In place of those whose text is given back. */
  readonly streams?: { readonly stdout?: Writable; readonly stderr?: Writable };
}

export interface InProcessRun {
  readonly exitCode: number | undefined;
  readonly thrown: unknown;
  readonly stdout: string;
  readonly stderr: string;
  readonly command: ActionCommand;
}

type CommandClass = new (argv: string[], config: Config) => BaseCommand;

/** Runs an acting command here, with a driver, signals and streams of the test. */
export async function runInProcess(
  commandClass: CommandClass,
  id: string,
  argv: string[],
  given: InProcess,
): Promise<InProcessRun> {
  const command = new commandClass(argv, await config()) as ActionCommand;
  command.id = id;
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const stdin = new PassThrough();
  stdin.end(given.input ?? '');
  command.surroundings = {
    env: { CNAB_HOME: join(given.home, 'cnab'), ...given.env },
    cwd: given.home,
    ...{ stdin, stdout, stderr, ...given.streams },
  };
  command.parts = {
    clock: systemClock,
    signals: given.signals ?? new EventEmitter(),
    openStore: storeAt,
    openDriver: () => Promise.resolve(given.driver),
    ...given.parts,
  };
  let exitCode: number | undefined;
  let thrown: unknown;
  try {
    exitCode = await command.run();
  } catch (error) {
    thrown = error;
  }
  return { exitCode, thrown, stdout: textOf(stdout), stderr: textOf(stderr), command };
}

let loaded: Promise<Config> | undefined;

function config(): Promise<Config> {
  loaded ??= Config.load({ root: ROOT });
  return loaded;
}

function textOf(stream: PassThrough): string {
  return (stream.read() as Buffer | null)?.toString() ?? '';
}
