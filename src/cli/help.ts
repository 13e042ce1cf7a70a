import { Help } from '@oclif/core/help';
import { exitCodeLines } from './exit-codes.js';

/** The framework's help with the exit codes below the list of commands, made from their one table. */
export class CnabHelp extends Help {
  protected override async showRootHelp(): Promise<void> {
    await super.showRootHelp();
    this.log(this.section('EXIT CODES', exitCodeLines().join('\n')));
  }
}
