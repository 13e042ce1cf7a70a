import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BaseCommand } from '../../src/cli/base-command.js';
import Install from '../../src/commands/install.js';
import { FakeDriver } from '../helpers/fake-driver.js';
import { RECORDED_BUNDLE } from '../helpers/recorded-installation.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';
import { runInProcess, type InProcess } from '../helpers/run-command.js';

/** What an install of `app` needs. */
export const INSTALL = ['app', 'bundle.json', '-p', 'greeting=hi', '-p', 'token=secret'] as const;

export type AnyCommand = new (...of: ConstructorParameters<typeof Install>) => BaseCommand;

/** A home for commands in this process, and a driver whose runs say `one` and go on without their command. */
export class LeftRun {
  readonly home = temporaryHome();
  driver = new FakeDriver(async (run) => {
    await run.posted();
    await run.log('one\n');
    return { status: 'running', ran: 'unknown', keep: true };
  });

  constructor() {
    writeFileSync(join(this.home, 'bundle.json'), JSON.stringify(RECORDED_BUNDLE));
  }

  run(command: AnyCommand, argv: readonly string[], given: Partial<InProcess> = {}): ReturnType<typeof runInProcess> {
    const { home, driver } = this;
    return runInProcess(command, command.name.toLowerCase(), [...argv], { home, driver, ...given });
  }

  detach(...argv: string[]): ReturnType<typeof runInProcess> {
    return this.run(Install, [...INSTALL, '--detach', ...argv]);
  }

  /** Begins a run in a copy of this home as it is now, as another machine that has these records; the driver's target knows it. */
  async detachElsewhere(command: AnyCommand, argv: readonly string[]): Promise<void> {
    const other = temporaryHome();
    cpSync(this.home, other, { recursive: true });
    await this.run(command, [...argv, '--detach'], { home: other });
    removeHome(other);
    const operation = this.driver.operations.at(-1);
    if (operation === undefined) throw new Error('nothing ran');
    const { runId, action, record, stateless } = operation;
    const state = { namespace: 'default', job: 'j', jobUid: 'u' };
    this.driver.found = [{ runId, action, created: Date.now(), ...(stateless && { stateless }), state }];
    this.driver.inputsOf = () => Promise.resolve({ record, environment: new Map(), files: new Map() });
  }

  remove(): void {
    removeHome(this.home);
  }
}
