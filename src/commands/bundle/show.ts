import * as Args from '@oclif/core/args';
import { bundleDescription, fromCommandLine } from '../../cli/args.js';
import { BaseCommand } from '../../cli/base-command.js';
import type { ExitCode } from '../../cli/exit-codes.js';
import { outputFlags } from '../../cli/flags.js';
import { BundleView } from '../../cli/views/bundle.js';
import { openBundle } from '../../cli/wiring/bundles.js';

export default class BundleShow extends BaseCommand {
  static override summary = "Show a bundle's actions, parameters, credentials and outputs.";
  static override args = {
    bundle: Args.string({ ...fromCommandLine, description: bundleDescription, required: true }),
  };
  static override flags = outputFlags;
  static override examples = [
    '<%= config.bin %> bundle show ./bundle',
    '<%= config.bin %> bundle show bundle.json -o yaml',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(BundleShow);
    const loaded = await openBundle(args.bundle, this.surroundings);
    await this.print(new BundleView(loaded), this.formatOf(flags));
    if (!flags.quiet) for (const warning of loaded.warnings) await this.say(`warning: ${warning}`);
    return 0;
  }
}
