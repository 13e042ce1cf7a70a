import * as Args from '@oclif/core/args';
import { actionFlags } from '../cli/action-flags.js';
import { bundleDescription, fromCommandLine, nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { outputFlags } from '../cli/flags.js';
import { PlanCommand } from '../cli/wiring/plan-command.js';
import { swappedHint } from '../cli/wiring/swapped.js';

export default class Invoke extends PlanCommand {
  static override summary = 'Run a custom action of a bundle.';
  static override description =
    'A stateless action needs no installation: name the bundle. It leaves no record. Actions of a bundle: cnab bundle show.';
  static override args = {
    name: nameArg,
    action: Args.string({ ...fromCommandLine, description: 'name of the action', required: true }),
    bundle: Args.string({
      ...fromCommandLine,
      description: `${bundleDescription} (default: the one that is installed)`,
    }),
  };
  static override flags = { ...actionFlags, ...outputFlags };
  static override examples = [
    '<%= config.bin %> invoke app status',
    '<%= config.bin %> invoke app backup -p bucket=nightly --json',
    '<%= config.bin %> invoke app dry-run ./bundle',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Invoke);
    const plan = { action: args.action, installation: args.name, bundle: args.bundle };
    try {
      return await this.perform(plan, flags);
    } catch (error) {
      throw await swappedHint(error, args, this.parts.openStore(this.home));
    }
  }
}
