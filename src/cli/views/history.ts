import type { Json } from '../../bundle/bundle.js';
import type { Installation } from '../../claim/claim.js';
import { history, type HistoryEntry } from '../../claim/status.js';
import type { Target } from '../../claim/target.js';
import { durationText } from '../durations.js';
import { document, withoutAbsent, type View } from '../format.js';
import { table } from '../table.js';
import { millisecondsBetween, timeText } from '../times.js';

/** `history`: every run of one installation, oldest first. */
export class HistoryView implements View {
  private readonly entries: readonly HistoryEntry[];

  constructor(
    private readonly target: Target,
    private readonly installation: Installation,
  ) {
    this.entries = history(installation);
  }

  toJson(): Json {
    return document('history', {
      installation: this.installation.name,
      target: this.target.label,
      runs: this.entries.map(runJson),
    });
  }

  toText(): string {
    const rows = this.entries.map(({ claim, status, exitCode, message, ended }) => {
      const took = millisecondsBetween(claim.created, ended);
      return [
        claim.id,
        claim.action,
        status,
        exitCode === undefined ? '' : String(exitCode),
        `${claim.bundle.name} ${claim.bundle.version}`,
        timeText(claim.created),
        took === undefined ? '' : durationText(took),
        (message ?? '').split('\n')[0] ?? '',
      ];
    });
    return table(['RUN', 'ACTION', 'STATUS', 'EXIT', 'BUNDLE', 'STARTED', 'TOOK', 'MESSAGE'], rows);
  }
}

export function runJson({ claim, status, exitCode, message, ended, modifying }: HistoryEntry): Json {
  return withoutAbsent({
    runId: claim.id,
    revision: claim.revision,
    action: claim.action,
    modifies: modifying,
    status,
    exitCode,
    bundle: { name: claim.bundle.name, version: claim.bundle.version },
    started: claim.created,
    ended,
    message,
  });
}
