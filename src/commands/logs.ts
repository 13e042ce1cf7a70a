import { createReadStream } from 'node:fs';
import { LOGS_OUTPUT } from '../claim/claim.js';
import { nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { targetFlags, text } from '../cli/flags.js';
import { audienceOf, logGuard } from '../cli/log-guard.js';
import { write } from '../cli/write.js';
import { findLog } from '../cli/wiring/find-log.js';
import { StoreCommand } from '../cli/wiring/store-command.js';

export default class Logs extends StoreCommand {
  static override summary = "Print the log of an installation's last run, as it was stored.";
  static override description = `Control characters are shown, not obeyed, and CI systems find no commands in it.
The bytes as they came: cnab outputs show NAME ${LOGS_OUTPUT}`;
  static override args = { name: nameArg };
  static override flags = { ...targetFlags, run: text('run', 'the log of this run', { helpValue: 'ID|last' }) };
  static override examples = ['<%= config.bin %> logs app', '<%= config.bin %> logs app --run 01JD3Z…'];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Logs);
    const { claims, installation } = await this.find(args.name, flags);
    const { stored, note } = await findLog(claims, installation, flags.run ?? 'last');
    if (note !== undefined && !flags.quiet) await this.say(note);
    const { stdout, env } = this.surroundings;
    const guard = logGuard(audienceOf(env));
    for await (const chunk of createReadStream(stored.file) as AsyncIterable<Buffer>) {
      await write(stdout, guard.push(chunk));
    }
    await write(stdout, guard.end());
    return 0;
  }
}
