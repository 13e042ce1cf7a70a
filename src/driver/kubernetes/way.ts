import { CnabError } from '../../errors.js';
import { limitsOf, type Way } from '../../frame/delivery.js';
import type { OutputLimits } from '../../frame/problem.js';
import type { Operation } from '../driver.js';
import type { DriverSettings } from '../settings.js';
import { checkWith, type KubectlWay } from './kubectl.js';

/** Whether the user may `get` and `create` pods/exec, and the words about it. */
export interface ExecRight {
  readonly mayExec: boolean;
  readonly namespace: string;
  /** Name of the kubeconfig's user. */
  readonly user?: string;
  readonly way?: KubectlWay;
}

type WayOperation = Pick<Operation, 'outputs'>;
type WaySettings = Pick<DriverSettings, 'outputsVia' | 'sensitiveOutputs' | 'maxLogOutputsBytes'>;

/** Whether the right to exec makes a difference to the way. */
export function asksForExec({ outputs }: WayOperation, { outputsVia }: WaySettings): boolean {
  return outputs.length > 0 && outputsVia !== 'log';
}

/**
 * How the outputs are to leave the pod. Chosen before the Job is made and never changed: it is in the sidecar's
 * environment. Throws CnabError where outputs could not leave as they must, and nothing has been run: `unavailable` for want
 * of a right, `invalid` where the settings forbid it.
 */
export function chooseWay(operation: WayOperation, settings: WaySettings, right: ExecRight): Way {
  const mayExec = asksForExec(operation, settings) && right.mayExec;
  if (!mayExec) {
    checkSensitiveOutputs(operation, settings, right);
    if (settings.outputsVia === 'exec' && operation.outputs.length > 0) {
      throw new CnabError('unavailable', `${lack(right)}, and --outputs-via exec needs it, so nothing was run`, {
        suggestions: [...adviceOnRole(right), 'Or let outputs come by the log of the pod: --outputs-via auto'],
      });
    }
  }
  return wayOf(settings, mayExec);
}

/** The way where nobody has asked the cluster yet: for a check and for a preview. Throws as `chooseWay` does, where the settings forbid it. */
export function expectedWay(operation: WayOperation, settings: WaySettings): Way {
  return chooseWay(operation, settings, { mayExec: true, namespace: '' });
}

function wayOf(settings: WaySettings, mayExec: boolean): Way {
  return {
    via: mayExec ? 'exec' : 'log',
    maxLogBytes: settings.maxLogOutputsBytes,
    inLog: settings.sensitiveOutputs === 'log' ? 'all' : 'not-sensitive',
  };
}

/** A sensitive output in a log is readable by everybody who reads logs, and log collectors ship it away: base64 is no secrecy. */
function checkSensitiveOutputs({ outputs }: WayOperation, settings: WaySettings, right: ExecRight): void {
  const names = outputs.filter(({ sensitive }) => sensitive).map(({ name }) => JSON.stringify(name));
  if (names.length === 0 || settings.sensitiveOutputs === 'log') return;
  const what = `the sensitive ${names.length === 1 ? 'output' : 'outputs'} ${names.join(', ')} cannot be collected`;
  const inLog = 'To let sensitive outputs travel base64-encoded in the log of the pod, add: --sensitive-outputs log';
  if (settings.outputsVia === 'log') {
    const why = '--outputs-via log lets nothing leave but by the log of the pod, which others may read';
    throw new CnabError('invalid', `${what}: ${why}, so nothing was run`, {
      suggestions: ['Leave --outputs-via log out, so that they come by exec.', inLog],
    });
  }
  throw new CnabError('unavailable', `${what}: ${lack(right)}, and others may read the log, so nothing was run`, {
    suggestions: [...adviceOnRole(right), inLog],
  });
}

function lack({ user, namespace }: ExecRight): string {
  return `${user === undefined ? 'this user' : `user "${user}"`} may not get and create pods/exec in namespace ${namespace}`;
}

function adviceOnRole({ namespace, way = {} }: ExecRight): readonly string[] {
  return [
    `A Role in namespace ${namespace} must allow: get and create on pods/exec.`,
    ...checkWith(way, namespace, 'create pods/exec', 'get pods/exec'),
  ];
}

/** The limits that sidecar and assembler apply; both must have the same. */
export function outputLimits(
  { maxOutputBytes, maxOutputsTotalBytes }: Pick<DriverSettings, 'maxOutputBytes' | 'maxOutputsTotalBytes'>,
  way: Way,
): OutputLimits {
  return withAdvice(limitsOf({ maxOutputBytes, maxTotalBytes: maxOutputsTotalBytes }, way), way);
}

/** Limits as the sidecar has them, with what to do about each. */
export function withAdvice(limits: Omit<OutputLimits, 'advice'>, way: Way): OutputLimits {
  const byLog = way.via === 'log' && limits.maxTotalBytes === way.maxLogBytes;
  const total = byLog
    ? 'raise it with --max-log-outputs, or let a Role allow get and create on pods/exec, by which more can travel'
    : 'raise it with --max-outputs-total';
  return { ...limits, advice: { output: 'raise it with --max-output-size', total } };
}
