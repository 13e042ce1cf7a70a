import * as Args from '@oclif/core/args';
import { fromCommandLine } from '../cli/args.js';
import { actionFlags } from '../cli/action-flags.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { outputFlags, yes } from '../cli/flags.js';
import { UninstallCommand } from '../cli/wiring/uninstall-command.js';

export default class Uninstall extends UninstallCommand {
  static override summary = 'Uninstall installations; their history stays, hidden from list.';
  static override args = {
    name: Args.string({ ...fromCommandLine, description: 'names of installations', required: true, multiple: true }),
  };
  static override flags = {
    ...actionFlags,
    ...outputFlags,
    'ignore-not-found': yes('ignore-not-found', 'a name that is not installed is no error'),
    'delete-record': yes('delete-record', 'delete the record after success; on an uninstalled name only that'),
  };
  static override examples = [
    '<%= config.bin %> uninstall app',
    '<%= config.bin %> uninstall app db --ignore-not-found',
    '<%= config.bin %> uninstall app --delete-record --json',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Uninstall);
    return this.uninstallAll(args.name, flags);
  }
}
