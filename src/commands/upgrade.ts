import * as Args from '@oclif/core/args';
import { actionFlags } from '../cli/action-flags.js';
import { bundleDescription, fromCommandLine, nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { outputFlags, yes } from '../cli/flags.js';
import { PlanCommand } from '../cli/wiring/plan-command.js';

export default class Upgrade extends PlanCommand {
  static override summary = 'Upgrade an installation, to another bundle or with other parameters.';
  static override description =
    'What was chosen before is kept and said: parameters, credential sets, service account. --reset drops it.';
  static override args = {
    name: nameArg,
    bundle: Args.string({
      ...fromCommandLine,
      description: `${bundleDescription} (default: the one that is installed)`,
    }),
  };
  static override flags = {
    ...actionFlags,
    ...outputFlags,
    install: yes('install', 'install it where there is nothing to upgrade'),
  };
  static override examples = [
    '<%= config.bin %> upgrade app ./bundle',
    '<%= config.bin %> upgrade app -p replicas=3',
    '<%= config.bin %> upgrade app ./bundle --install --json',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Upgrade);
    const plan = { action: 'upgrade', installation: args.name, bundle: args.bundle, installIfAbsent: flags.install };
    return this.perform(plan, flags);
  }
}
