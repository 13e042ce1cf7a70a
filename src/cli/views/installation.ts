import type { Json } from '../../bundle/bundle.js';
import type { Installation } from '../../claim/claim.js';
import { history, isUninstalled, standingRun, statusOf, unsettled } from '../../claim/status.js';
import type { Target } from '../../claim/target.js';
import { document, withoutAbsent, type View } from '../format.js';
import { facts } from '../table.js';
import { timeText } from '../times.js';
import { runJson } from './history.js';
import { installationJson } from './installations.js';
import { outputJson, outputTable, type ListedOutput } from './outputs.js';

export interface ParameterShown {
  readonly name: string;
  /** Absent for a sensitive one. */
  readonly value?: Json;
  readonly sensitive: boolean;
}

/** `show`: how one installation stands. */
export class InstallationView implements View {
  constructor(
    private readonly target: Target,
    private readonly installation: Installation,
    private readonly parameters: readonly ParameterShown[],
    private readonly outputs: readonly ListedOutput[],
  ) {}

  toJson(): Json {
    const last = history(this.installation).at(-1);
    return document('show', {
      installation: installationJson({ target: this.target, installation: this.installation }),
      lastRun: last && runJson(last),
      parameters: this.parameters.map(({ name, value, sensitive }) => withoutAbsent({ name, sensitive, value })),
      outputs: this.outputs.map((output) => withoutAbsent({ ...outputJson(output), runId: output.runId })),
    });
  }

  toText(): string {
    const { installation, target } = this;
    const record = standingRun(installation);
    const newest = history(installation).at(-1);
    const open = unsettled(installation);
    const last = newest && `${newest.claim.action}: ${newest.status}${exitText(newest.exitCode)}`;
    const summary = facts([
      ['Name', installation.name],
      ['Target', target.server === undefined ? target.label : `${target.label} (${target.server})`],
      ['Bundle', record && `${record.claim.bundle.name} ${record.claim.bundle.version}`],
      ['Status', record && statusOf(record)],
      ['State', isUninstalled(installation) ? 'uninstalled' : undefined],
      ['Revision', record?.claim.revision],
      ['Last run', newest && `${newest.claim.id}, ${last ?? ''}, ${timeText(newest.ended ?? newest.claim.created)}`],
      ['Message', newest?.message?.split('\n')[0]],
      ['Going on', open && `${open.claim.action}, run ${open.claim.id}: no end is recorded`],
    ]);
    const parameters = facts(
      this.parameters.map(({ name, value, sensitive }) => [
        `  ${name}`,
        sensitive ? '<sensitive>' : typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    );
    const outputs = outputTable(this.outputs);
    return [
      summary,
      ...(parameters === '' ? [] : [`Parameters:\n${parameters}`]),
      ...(outputs === '' ? [] : [outputs]),
    ].join('\n\n');
  }
}

function exitText(exitCode: number | undefined): string {
  return exitCode === undefined || exitCode === 0 ? '' : ` with exit code ${exitCode}`;
}
