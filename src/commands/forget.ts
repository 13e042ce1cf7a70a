import { forgetInstallation } from '../action/forget.js';
import { describeTarget } from '../action/refuse.js';
import { nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { outputFlags, targetFlags } from '../cli/flags.js';
import { ForgottenView } from '../cli/views/forgotten.js';
import { StoreCommand } from '../cli/wiring/store-command.js';

export default class Forget extends StoreCommand {
  static override summary = 'Delete the record of an installation and run nothing: what it installed stays.';
  static override args = { name: nameArg };
  static override flags = { ...outputFlags, ...targetFlags };
  static override examples = ['<%= config.bin %> forget app', '<%= config.bin %> forget app --context old-cluster'];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Forget);
    const { target } = await this.find(args.name, flags);
    await forgetInstallation(args.name, target, this.store);
    return this.print(new ForgottenView(args.name, target.label, describeTarget(target)), this.formatOf(flags));
  }
}
