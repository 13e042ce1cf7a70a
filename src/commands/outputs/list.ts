import { lastOutputs, outputsOf } from '../../claim/status.js';
import { nameArg } from '../../cli/args.js';
import type { ExitCode } from '../../cli/exit-codes.js';
import { outputFlags, targetFlags, text } from '../../cli/flags.js';
import { OutputsView } from '../../cli/views/outputs.js';
import { runOf } from '../../cli/wiring/find-run.js';
import { listOutputs } from '../../cli/wiring/outputs-of.js';
import { StoreCommand } from '../../cli/wiring/store-command.js';
import { unfinishedNotes } from '../../cli/wiring/unfinished-notes.js';

export default class OutputsList extends StoreCommand {
  static override summary = 'List the outputs of an installation, the newest of each name.';
  static override args = { name: nameArg };
  static override flags = {
    ...outputFlags,
    ...targetFlags,
    run: text('run', 'only those of this run', { helpValue: 'ID|last' }),
  };
  static override examples = [
    '<%= config.bin %> outputs list app',
    '<%= config.bin %> outputs list app --run last --json',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(OutputsList);
    const { target, claims, installation } = await this.find(args.name, flags);
    const produced = flags.run === undefined ? lastOutputs(installation) : outputsOf(runOf(installation, flags.run));
    const { outputs, problems } = await listOutputs(claims, produced);
    await this.print(new OutputsView(args.name, target.label, outputs), this.formatOf(flags));
    const notes = await unfinishedNotes(claims, installation);
    return this.note(flags, [...problems.map((problem) => `warning: ${problem}`), ...notes]);
  }
}
