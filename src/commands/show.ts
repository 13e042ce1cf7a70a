import type { Claim } from '../claim/claim.js';
import { isSensitiveParameter, lastOutputs, standingRun } from '../claim/status.js';
import { nameArg } from '../cli/args.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { outputFlags, targetFlags } from '../cli/flags.js';
import { InstallationView, type ParameterShown } from '../cli/views/installation.js';
import { listOutputs } from '../cli/wiring/outputs-of.js';
import { StoreCommand } from '../cli/wiring/store-command.js';
import { unfinishedNotes } from '../cli/wiring/unfinished-notes.js';

export default class Show extends StoreCommand {
  static override summary = 'Show how an installation stands: bundle, status, parameters, outputs.';
  static override args = { name: nameArg };
  static override flags = { ...outputFlags, ...targetFlags };
  static override examples = ['<%= config.bin %> show app', '<%= config.bin %> show app -o yaml'];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(Show);
    const { target, claims, installation } = await this.find(args.name, flags);
    const claim = standingRun(installation)?.claim;
    const { outputs, problems } = await listOutputs(claims, lastOutputs(installation));
    const view = new InstallationView(target, installation, claim ? parametersOf(claim) : [], outputs);
    await this.print(view, this.formatOf(flags));
    return this.note(flags, [
      ...problems.map((problem) => `warning: ${problem}`),
      ...(await unfinishedNotes(claims, installation)),
    ]);
  }
}

function parametersOf(claim: Claim): readonly ParameterShown[] {
  return Object.entries(claim.parameters ?? {})
    .map(([name, value]) =>
      isSensitiveParameter(claim, name) ? { name, sensitive: true } : { name, sensitive: false, value },
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
