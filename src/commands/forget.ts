import { forgetInstallation } from '../action/forget.js';
import { describeTarget } from '../action/refuse.js';
import { nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { outputFlags, targetFlags } from '../cli/flags.js';
import { ForgottenView } from '../cli/views/forgotten.js';
import { StoreCommand } from '../cli/wiring/store-command.js';
import { unfinishedNotes } from '../cli/wiring/unfinished-notes.js';

export default class Forget extends StoreCommand {
  static override summary = 'Delete the record of an installation and run nothing: what it installed stays.';
  static override args = { name: nameArg };
  static override flags = { ...outputFlags, ...targetFlags };
  static override examples = ['<%= config.bin %> forget app', '<%= config.bin %> forget app --context old-cluster'];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Forget);
    const { target, claims, installation } = await this.find(args.name, flags);
    // A run that goes on is found by its name afterwards too.
    const notes = await unfinishedNotes(claims, installation);
    await forgetInstallation(args.name, target, this.store);
    await this.print(new ForgottenView(args.name, target.label, describeTarget(target)), this.formatOf(flags));
    return this.note(flags, notes);
  }
}
