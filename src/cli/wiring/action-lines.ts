import type { ActionOutcome, ActionStart } from '../../action/request.js';
import { describeTarget } from '../../action/refuse.js';
import { takeUpCommand } from '../../action/unfinished.js';
import type { Target } from '../../claim/target.js';
import type { ActionFlags } from '../action-flags.js';
import { durationText } from '../durations.js';
import { safeLine } from '../log-guard.js';
import type { Surroundings } from '../surroundings.js';

/** What will happen where, before anything runs. */
export function startLines(start: ActionStart): readonly string[] {
  const { action, installation, target, runId, kept, serviceAccount, resumable } = start;
  const user = target.user === undefined ? '' : `, as ${target.user}`;
  const account = target.driver === 'kubernetes' ? `, service account: ${serviceAccount ?? 'none'}` : '';
  const lines = [
    `${action} ${installation} -> ${describeTarget(target)}${user}${account}`,
    `run ${runId}`,
    ...(resumable ? [`should this command be killed: ${takeUpCommand('resume', installation, target)}`] : []),
  ];
  if (kept) {
    const count = kept.parameters.length;
    const choices = [
      ...kept.choices.credentialSets.map((set) => `-c ${set}`),
      ...(kept.choices.serviceAccount === undefined ? [] : [`--service-account ${kept.choices.serviceAccount}`]),
      ...(kept.choices.relocation === undefined ? [] : ['the relocation mapping']),
      ...(count === 0 ? [] : [`${count} parameter${count === 1 ? '' : 's'} (${kept.parameters.join(', ')})`]),
    ];
    lines.push(`Using from revision ${kept.revision}: ${choices.join(', ')} (--reset to drop)`);
  }
  return lines.map(safeLine);
}

/** How it ended and where, in one line; of a run that goes on without us what to type for it too. `left`: the line about that. */
export function endLines(outcome: ActionOutcome, tookMs: number, left?: string): readonly string[] {
  const { action, installation, status, target, runId } = outcome;
  const where = target.driver === 'sandbox' ? 'in the sandbox; no cluster was touched' : `on ${describeTarget(target)}`;
  if (status !== 'running')
    return [safeLine(`${action} ${installation}: ${status} after ${durationText(tookMs)}, ${where}`)];
  const line = left ?? `${action} ${installation}: goes on without this command as run ${runId}, ${where}`;
  return [safeLine(line), ...leftHints(installation, target)];
}

/** What to type for a run that goes on. */
export function leftHints(installation: string, target: Target): readonly string[] {
  return [
    `its end: ${takeUpCommand('wait', installation, target)}`,
    `its log: ${takeUpCommand('logs -f', installation, target)}`,
  ].map(safeLine);
}

/** Variables that Duffle and cnab-go read and we do not: set by habit, they would be missed in silence. */
export function unusedVariables(env: Surroundings['env'], driver: string, flags: ActionFlags): readonly string[] {
  if (driver !== 'kubernetes') return [];
  const habits = [
    { variable: 'KUBE_NAMESPACE', flag: 'namespace', value: flags.namespace },
    { variable: 'SERVICE_ACCOUNT', flag: 'service-account', value: flags['service-account'] },
  ];
  return habits
    .filter(({ variable, value }) => value === undefined && (env[variable] ?? '') !== '')
    .map(
      ({ variable, flag }) =>
        `warning: ${variable} is set and not used; write --${flag} ${safeLine(env[variable] ?? '')}`,
    );
}
