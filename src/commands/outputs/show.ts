import * as Args from '@oclif/core/args';
import { shellWord } from '../../bundle/shell-word.js';
import { fromCommandLine, nameArg } from '../../cli/args.js';
import type { ExitCode } from '../../cli/exit-codes.js';
import { targetFlags, text } from '../../cli/flags.js';
import { writeRaw } from '../../cli/raw-output.js';
import { findOutput } from '../../cli/wiring/find-run.js';
import { StoreCommand } from '../../cli/wiring/store-command.js';
import { unfinishedNotes } from '../../cli/wiring/unfinished-notes.js';

export default class OutputsShow extends StoreCommand {
  static override summary = 'Write the bytes of one output to stdout and nothing else.';
  static override description =
    'Also a sensitive one, since it is named. A terminal gets a final newline; binary bytes to a terminal are refused.';
  static override args = {
    name: nameArg,
    output: Args.string({ ...fromCommandLine, description: 'name of the output', required: true }),
  };
  static override flags = {
    ...targetFlags,
    run: text('run', 'as this run left it (default: the newest there is)', { helpValue: 'ID|last' }),
  };
  static override examples = [
    '<%= config.bin %> outputs show app kubeconfig > kubeconfig',
    '<%= config.bin %> outputs show app url --run last',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(OutputsShow);
    const { claims, installation } = await this.find(args.name, flags, args.output);
    const { produced, stored, note } = await findOutput(claims, installation, args.output, flags.run);
    if (note !== undefined && !flags.quiet) await this.say(note);
    const { contentDigest } = produced.metadata;
    await writeRaw(
      {
        what: `output ${JSON.stringify(args.output)}`,
        file: stored.file,
        sensitive: produced.sensitive,
        redirect: `cnab outputs show ${shellWord(args.name)} ${shellWord(args.output)} > FILE`,
        ...(contentDigest === undefined ? {} : { digest: contentDigest }),
      },
      this.surroundings.stdout,
    );
    return this.note(flags, await unfinishedNotes(claims, installation));
  }
}
