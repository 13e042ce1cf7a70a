import type { LookedOn } from '../../action/look-on.js';
import type { Json } from '../../bundle/bundle.js';
import type { CnabError } from '../../errors.js';
import type { ExitCode } from '../exit-codes.js';
import { document, type View } from '../format.js';
import { errorJson } from '../report.js';

/** How a run ended that was only looked at: of its bundle and its outputs nothing is known here. */
export class LookedView implements View {
  constructor(
    private readonly looked: LookedOn,
    private readonly error: CnabError | undefined,
    private readonly exitCode: ExitCode,
  ) {}

  toJson(): Json {
    const { run, target, end, next } = this.looked;
    return document('wait', {
      action: run.action,
      installation: run.installation,
      target: target.label,
      runId: run.runId,
      status: end.status,
      ran: end.ran,
      exitCode: end.exitCode,
      outputs: [],
      note: next,
      error: this.error && errorJson(this.error, this.exitCode),
    });
  }

  toText(): string {
    return '';
  }
}
