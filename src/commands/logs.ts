import { LOGS_OUTPUT } from '../claim/claim.js';
import { nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { text, yes } from '../cli/flags.js';
import { begunFlags } from '../cli/take-up-flags.js';
import { LogCommand } from '../cli/wiring/log-command.js';
import { unfinishedNotes } from '../cli/wiring/unfinished-notes.js';

export default class Logs extends LogCommand {
  static override summary =
    "Print the log of an installation's last run, as it was stored, or follow one that goes on.";
  static override description = `Control characters are shown, not obeyed, and CI systems find no commands in it.
The bytes as they came: cnab outputs show NAME ${LOGS_OUTPUT}
--follow shows also what another process or another machine began; it reads from the cluster what is not stored here, secrets masked, and changes nothing. Ctrl-C ends the following; the run goes on.`;
  static override args = { name: nameArg };
  static override flags = {
    ...begunFlags,
    run: text('run', 'the log of this run', { helpValue: 'ID|last' }),
    follow: yes('follow', 'go on until the run ends', { char: 'f' }),
  };
  static override examples = [
    '<%= config.bin %> logs app',
    '<%= config.bin %> logs app --run 01JD3Z…',
    '<%= config.bin %> logs -f app --context prod -n payments',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Logs);
    return this.guarded(async (show) => {
      if (flags.follow) return this.follow(args.name, flags, show);
      const { claims, installation } = await this.find(args.name, flags);
      await this.showStored(claims, installation, flags, show);
      return this.note(flags, await unfinishedNotes(claims, installation));
    });
  }
}
