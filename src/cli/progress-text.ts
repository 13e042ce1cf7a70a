import type { Progress } from '../driver/driver.js';
import { safeLine } from './log-guard.js';
import { sizeText } from './sizes.js';

const PHASES: Readonly<Record<Progress['phase'], string>> = {
  preparing: 'preparing',
  waiting: 'waiting to start',
  running: 'running',
  collecting: 'collecting outputs',
  'cleaning-up': 'cleaning up',
};

/** One clause: phase, detail and how much has come. The detail holds a server's words, so it is made safe. */
export function progressText({ phase, detail, receivedBytes, totalBytes }: Progress): string {
  const clauses = [detail?.startsWith('for ') ? `waiting ${safeLine(detail)}` : PHASES[phase]];
  if (detail !== undefined && !detail.startsWith('for ')) clauses.push(safeLine(detail));
  if (receivedBytes !== undefined && receivedBytes > 0) {
    clauses.push(`${sizeText(receivedBytes)}${totalBytes === undefined ? '' : ` of ${sizeText(totalBytes)}`} received`);
  }
  return clauses.join(', ');
}
