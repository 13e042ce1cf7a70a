import type { Json } from '../../bundle/bundle.js';
import type { DamagedRecord } from '../../claim/claim-store.js';
import type { Installation } from '../../claim/claim.js';
import { history, isInstalled, lastModifying, standingRun, statusOf } from '../../claim/status.js';
import type { Target } from '../../claim/target.js';
import { document, withoutAbsent, type View } from '../format.js';
import { safeLine } from '../log-guard.js';
import { table } from '../table.js';
import { ageText } from '../times.js';

export interface ListedInstallation {
  readonly target: Target;
  readonly installation: Installation;
}

/** `list`: one row for each installation, judged by its last modifying run. */
export class InstallationsView implements View {
  constructor(
    private readonly listed: readonly ListedInstallation[],
    private readonly damaged: readonly DamagedRecord[],
    private readonly options: { readonly now: number; readonly namesOnly: boolean },
  ) {}

  toJson(): Json {
    return document('list', {
      installations: this.listed.map(installationJson),
      damaged: this.damaged.length > 0 ? this.damaged.map(({ file, reason }) => ({ file, reason })) : undefined,
    });
  }

  toText(): string {
    if (this.options.namesOnly) return this.listed.map(({ installation }) => safeLine(installation.name)).join('\n');
    const rows = this.listed.map(({ target, installation }) => {
      const summary = summaryOf(installation);
      const age = ageText(summary.modified, this.options.now);
      return [installation.name, target.label, summary.bundle, summary.action, summary.status, age];
    });
    return table(['NAME', 'TARGET', 'BUNDLE', 'LAST ACTION', 'STATUS', 'UPDATED'], rows);
  }
}

export function installationJson({ target, installation }: ListedInstallation): Json {
  const record = standingRun(installation);
  return withoutAbsent({
    name: installation.name,
    target: target.label,
    driver: target.driver,
    context: target.context,
    namespace: target.namespace,
    bundle: record && { name: record.claim.bundle.name, version: record.claim.bundle.version },
    revision: record?.claim.revision,
    action: record?.claim.action,
    status: record ? statusOf(record) : 'unknown',
    installed: isInstalled(installation),
    modified: modifiedOf(installation),
  });
}

function summaryOf(installation: Installation) {
  const record = standingRun(installation);
  return {
    bundle: record ? `${record.claim.bundle.name} ${record.claim.bundle.version}` : '',
    action: record?.claim.action ?? '',
    status: record ? statusOf(record) : 'unknown',
    modified: modifiedOf(installation),
  };
}

/** When the last modifying run ended, or began where it did not end. */
function modifiedOf(installation: Installation): string | undefined {
  const record = lastModifying(installation);
  const entry = history(installation).findLast(({ claim }) => record === undefined || claim.id === record.claim.id);
  return entry?.ended ?? entry?.claim.created;
}
