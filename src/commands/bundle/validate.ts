import * as Args from '@oclif/core/args';
import { bundleDescription, fromCommandLine } from '../../cli/args.js';
import { BaseCommand } from '../../cli/base-command.js';
import type { ExitCode } from '../../cli/exit-codes.js';
import { outputFlags } from '../../cli/flags.js';
import { BundleVerdictsView } from '../../cli/views/bundle-verdicts.js';
import { checkBundle } from '../../cli/wiring/bundles.js';

export default class BundleValidate extends BaseCommand {
  static override summary = 'Check bundles against the CNAB specification and list every problem with its place.';
  static override args = {
    file: Args.string({ ...fromCommandLine, description: bundleDescription, required: true, multiple: true }),
  };
  static override flags = outputFlags;
  static override examples = [
    '<%= config.bin %> bundle validate bundle.json',
    '<%= config.bin %> bundle validate bundles/*/bundle.json --json',
    'make bundle | <%= config.bin %> bundle validate -',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(BundleValidate);
    const checked = [];
    for (const file of args.file) checked.push(await checkBundle(file, this.surroundings));
    await this.print(new BundleVerdictsView(checked), this.formatOf(flags));
    const broken = checked.filter(({ bundle }) => bundle === undefined).length;
    if (broken === 0) return 0;
    const noun =
      checked.length === 1 ? 'the bundle is not valid' : `${broken} of ${checked.length} bundles are not valid`;
    await this.say(`error: ${noun}`);
    return 2;
  }
}
