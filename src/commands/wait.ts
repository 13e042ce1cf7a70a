import { nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { text } from '../cli/flags.js';
import { takeUpFlags } from '../cli/take-up-flags.js';
import { TakeUpCommand } from '../cli/wiring/take-up-command.js';

export default class Wait extends TakeUpCommand {
  static override summary = 'Wait for the end of a run and exit with its exit code.';
  static override description = `A run that no process is on is completed as cnab resume does, without showing its log. Of a run that is not recorded on this
machine only the exit code is waited for: nothing of it is taken, stopped or removed, and its outputs stay where they are.
Ctrl-C and --timeout end the waiting; the run goes on.`;
  static override args = { name: nameArg };
  static override flags = {
    ...takeUpFlags,
    timeout: text('timeout', 'wait no longer than this; the run goes on, exit code 10', { helpValue: 'DURATION' }),
  };
  static override examples = [
    '<%= config.bin %> install app ./bundle --detach && <%= config.bin %> wait app',
    '<%= config.bin %> wait app --json',
    '<%= config.bin %> wait app --timeout 10m',
    '<%= config.bin %> wait app --run 01JD3Z…',
  ];
  protected override readonly asks = 'leave';

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Wait);
    return this.wait(args.name, flags);
  }
}
