import type { ExitCode } from '../cli/exit-codes.js';
import { nameArg } from '../cli/args.js';
import { outputFlags, targetFlags } from '../cli/flags.js';
import { HistoryView } from '../cli/views/history.js';
import { StoreCommand } from '../cli/wiring/store-command.js';
import { unfinishedNotes } from '../cli/wiring/unfinished-notes.js';

export default class History extends StoreCommand {
  static override summary = 'List every run of an installation, oldest first.';
  static override args = { name: nameArg };
  static override flags = { ...outputFlags, ...targetFlags };
  static override examples = ['<%= config.bin %> history app', '<%= config.bin %> history app --json'];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(History);
    const { target, claims, installation } = await this.find(args.name, flags);
    await this.print(new HistoryView(target, installation), this.formatOf(flags));
    return this.note(flags, await unfinishedNotes(claims, installation));
  }
}
