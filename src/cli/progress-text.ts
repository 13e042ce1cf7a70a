import { quoted } from '../bundle/problem.js';
import type { Progress } from '../driver/driver.js';
import { spanText } from './durations.js';
import { safeLine } from './log-guard.js';
import { sizeText, SMALL_OUTPUTS_BYTES } from './sizes.js';
import { clockText } from './times.js';
import { TransferPace } from './transfer-pace.js';

const PHASES: Readonly<Record<Progress['phase'], string>> = {
  preparing: 'preparing',
  waiting: 'waiting to start',
  running: 'running',
  collecting: 'collecting outputs',
  'cleaning-up': 'cleaning up',
};

/** After so long without a byte the rate is 0 and says less than how long it has been. */
const SILENT_MS = 5000;
const LONGEST_LEFT_MS = 24 * 60 * 60_000;

/** The progress of one run in words. All foreign text in them (a server's words, names of outputs) is made safe. */
export class ProgressText {
  private readonly pace = new TransferPace();
  private current: Progress | undefined;
  private heldSaid = false;

  /** Takes in where the run stands now. */
  note(progress: Progress, now: number): void {
    this.current = progress;
    if (progress.receivedBytes !== undefined) this.pace.note(progress.receivedBytes, now);
  }

  /** Until when outputs can be fetched, as one sentence; only once, and only where that may take a while. */
  held(now: number): string | undefined {
    const { heldUntil: until, totalBytes = 0 } = this.current ?? {};
    if (until === undefined || this.heldSaid || totalBytes <= SMALL_OUTPUTS_BYTES) return undefined;
    this.heldSaid = true;
    return `outputs can be fetched until ${clockText(until)} (${spanText(Math.max(0, until - now))})`;
  }

  /** One clause: phase, detail, and how much has come how fast. Undefined before anything is known. */
  text(now: number): string | undefined {
    if (this.current === undefined) return undefined;
    const { phase, detail, receivedBytes = 0, totalBytes, output } = this.current;
    const clauses = [detail?.startsWith('for ') ? `waiting ${safeLine(detail)}` : PHASES[phase]];
    if (detail !== undefined && !detail.startsWith('for ')) clauses.push(safeLine(detail));
    if (phase !== 'collecting' || (totalBytes ?? receivedBytes) === 0) return clauses.join(', ');
    clauses.push(amountText(receivedBytes, totalBytes));
    if (receivedBytes !== totalBytes) {
      clauses.push(...this.paceClauses(totalBytes, now));
      if (output !== undefined) clauses.push(quoted(output));
    }
    return clauses.join(', ');
  }

  private paceClauses(totalBytes: number | undefined, now: number): readonly string[] {
    const silence = this.pace.silence(now);
    if (silence >= SILENT_MS) return [`nothing for ${spanText(silence)}`];
    const rate = this.pace.rate(now);
    if (rate === undefined) return [];
    const left = totalBytes === undefined ? undefined : this.pace.left(totalBytes, now);
    return [
      `${sizeText(Math.round(rate))}/s`,
      ...(left === undefined || left > LONGEST_LEFT_MS ? [] : [`${spanText(left)} left`]),
    ];
  }
}

/** Rounded down: 100% are said when all is there, and not before. */
function amountText(receivedBytes: number, totalBytes: number | undefined): string {
  if (totalBytes === undefined) return `${sizeText(receivedBytes)} received`;
  const percent = Math.floor((receivedBytes / totalBytes) * 100);
  return `${sizeText(receivedBytes)} of ${sizeText(totalBytes)} (${percent}%)`;
}
