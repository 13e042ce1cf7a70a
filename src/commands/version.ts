import { BaseCommand } from '../cli/base-command.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { outputFlags } from '../cli/flags.js';
import { VersionView } from '../cli/views/version.js';

export default class Version extends BaseCommand {
  static override summary = 'Print the version of cnab.';
  static override flags = outputFlags;
  static override examples = ['<%= config.bin %> version', '<%= config.bin %> version --json'];

  async run(): Promise<ExitCode> {
    const { flags } = await this.parse(Version);
    const view = new VersionView(this.config.version, `${this.config.platform}-${this.config.arch}`);
    return this.print(view, this.formatOf(flags));
  }
}
