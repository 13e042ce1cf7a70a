import { actionFlags } from '../cli/action-flags.js';
import { nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { yes } from '../cli/flags.js';
import { takeUpFlags } from '../cli/take-up-flags.js';
import { TakeUpCommand } from '../cli/wiring/take-up-command.js';

export default class Resume extends TakeUpCommand {
  static override summary =
    'Take up a run whose command was killed or left: its log, its outputs and its record are completed.';
  static override description = `The bundle never runs twice. Without a record of the run on this machine it is looked for on the cluster, by the name.
While a process of another machine is on it, it is refused (exit code 7); one that has been silent for half a minute is gone.
It ends with the exit code of the run; with 0 where nothing is to be taken up, and after --cancel where the run is canceled.`;
  static override args = { name: nameArg };
  static override flags = {
    ...takeUpFlags,
    cancel: yes('cancel', 'stop the run, and record it as canceled'),
    'take-over': yes('take-over', 'also from a process of another machine that is on it, or may be'),
    timeout: actionFlags.timeout,
    'grace-period': actionFlags['grace-period'],
    yes: actionFlags.yes,
  };
  static override examples = [
    '<%= config.bin %> resume app',
    '<%= config.bin %> resume app --cancel',
    '<%= config.bin %> resume app --take-over',
    '<%= config.bin %> resume app --context prod -n payments --json',
    '<%= config.bin %> resume app --driver sandbox',
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Resume);
    return this.resume(args.name, flags);
  }
}
