import { Help } from '@oclif/core/help';
import { configPath } from './config-file.js';
import { exitCodeLines } from './exit-codes.js';
import { homeFolder, processSurroundings } from './surroundings.js';

/** The framework's help, with what holds for all commands below their list; the exit codes are made from their one table. */
export class CnabHelp extends Help {
  protected override async showRootHelp(): Promise<void> {
    await super.showRootHelp();
    this.log(this.section('SETTINGS', this.settingsLines().join('\n')));
    this.log('');
    this.log(this.section('EXIT CODES', exitCodeLines().join('\n')));
  }

  private settingsLines(): readonly string[] {
    const here = processSurroundings();
    return [
      'A flag counts before its variable (--dry-run: CNAB_DRY_RUN), that before the config file, that before the default.',
      `config file: ${configPath(here, this.config.configDir)}   (or $CNAB_CONFIG; "namespace: payments", "protected: [prod]")`,
      `records:     ${homeFolder(here, this.config.dataDir)}   (or $CNAB_HOME)`,
    ];
  }
}
