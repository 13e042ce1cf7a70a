import * as Args from '@oclif/core/args';
import { actionFlags } from '../cli/action-flags.js';
import { bundleDescription, fromCommandLine, nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { outputFlags } from '../cli/flags.js';
import { PlanCommand } from '../cli/wiring/plan-command.js';

export default class Install extends PlanCommand {
  static override summary = 'Install a bundle and bring its outputs back.';
  static override description =
    "The bundle's log and the progress go to stderr, the outputs to stdout. Nothing is ever run on this machine unless --driver sandbox says so.";
  static override args = {
    name: nameArg,
    bundle: Args.string({ ...fromCommandLine, description: bundleDescription, required: true }),
  };
  static override flags = { ...actionFlags, ...outputFlags };
  static override examples = [
    '<%= config.bin %> install app ./bundle',
    '<%= config.bin %> install app ./bundle --driver sandbox',
    '<%= config.bin %> install app bundle.json -p port=8080 -c prod -n payments --context prod',
    '<%= config.bin %> install app ./bundle --json --timeout 30m',
    '<%= config.bin %> install app ./bundle --dry-run',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Install);
    const plan = { action: 'install', installation: args.name, bundle: args.bundle };
    return this.perform(plan, flags);
  }
}
