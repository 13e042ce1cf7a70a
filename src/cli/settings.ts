import { DEFAULT_SETTINGS, type DriverSettings } from '../driver/settings.js';
import { CnabError } from '../errors.js';
import type { ActionFlags } from './action-flags.js';
import { durationText, parseDuration } from './durations.js';
import { parsePair } from './pairs.js';
import { parseSize, sizeText } from './sizes.js';

/** Nobody waits at a run that was detached from: it is fetched when somebody has time. */
const DETACHED_HOLD_MS = 60 * 60_000;

/** What the flags say about how a run is carried out. Throws CnabError `invalid`. */
export function settingsOf(flags: ActionFlags): DriverSettings {
  const duration = (name: 'timeout' | 'start-timeout' | 'grace-period', otherwise: number): number => {
    const given = flags[name];
    return given === undefined ? otherwise : parseDuration(given, `--${name}`);
  };
  const gracePeriodMs = duration('grace-period', DEFAULT_SETTINGS.gracePeriodMs);
  const { kubeconfig, context, namespace } = flags;
  const runAsUser = userId(flags['run-as-user']);
  return {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(runAsUser === undefined ? {} : { runAsUser }),
    createNamespace: flags['create-namespace'] === true,
    imagePullSecrets: flags['image-pull-secret'] ?? [],
    labels: Object.fromEntries((flags.label ?? []).map((text) => parsePair(text, '--label'))),
    shellImage: flags['shell-image'] ?? DEFAULT_SETTINGS.shellImage,
    keepJob: flags['keep-job'] === true,
    ...waysOf(flags),
    timeoutMs: duration('timeout', DEFAULT_SETTINGS.timeoutMs),
    startTimeoutMs: duration('start-timeout', DEFAULT_SETTINGS.startTimeoutMs),
    gracePeriodMs,
    ...(flags['grace-period'] === undefined ? {} : { gracePeriodGiven: true }),
    holdTimeMs: holdTimeOf(flags, gracePeriodMs),
    ...limitsOf(flags),
  };
}

/** The flags' own options leave nothing else. What is impossible for one bundle alone is the driver's to refuse. */
function waysOf(flags: ActionFlags): Pick<DriverSettings, 'outputsVia' | 'sensitiveOutputs'> {
  const { 'outputs-via': via, 'sensitive-outputs': sensitive } = flags;
  if (via === 'log' && sensitive === 'exec') {
    throw new CnabError('invalid', '--outputs-via log and --sensitive-outputs exec contradict each other', {
      suggestions: [
        'leave out --outputs-via log, or let sensitive outputs travel in the log too: --sensitive-outputs log',
      ],
    });
  }
  return {
    outputsVia: via === 'log' || via === 'exec' ? via : 'auto',
    sensitiveOutputs: sensitive === 'log' ? 'log' : 'exec',
  };
}

/**
 * The hold time is the pod's own grace period: what stops the pod without us (a drain, a node that shuts down, a deleted
 * namespace) gives the run tool no more than that.
 */
function holdTimeOf(flags: ActionFlags, gracePeriodMs: number): number {
  const given = flags['hold-time'];
  const otherwise = flags.detach === true ? DETACHED_HOLD_MS : DEFAULT_SETTINGS.holdTimeMs;
  if (given === undefined) return Math.max(otherwise, gracePeriodMs);
  const holdTimeMs = parseDuration(given, '--hold-time');
  const suggestions = ['write --hold-time 10m, the default'];
  if (holdTimeMs < 1000) {
    throw new CnabError('invalid', `--hold-time ${given} leaves no time to send the outputs`, { suggestions });
  }
  if (holdTimeMs < gracePeriodMs) {
    const grace = durationText(gracePeriodMs);
    const message = `--hold-time ${given} is shorter than the grace period of ${grace}, which a drain of the node would cut short`;
    throw new CnabError('invalid', message, { suggestions });
  }
  return holdTimeMs;
}

type Limits = Pick<DriverSettings, 'maxOutputBytes' | 'maxOutputsTotalBytes' | 'maxLogOutputsBytes'>;

function limitsOf(flags: ActionFlags): Limits {
  const size = (name: 'max-output-size' | 'max-outputs-total' | 'max-log-outputs', otherwise: number): number => {
    const given = flags[name];
    return given === undefined ? otherwise : parseSize(given, `--${name}`);
  };
  const limits: Limits = {
    maxOutputBytes: size('max-output-size', DEFAULT_SETTINGS.maxOutputBytes),
    maxOutputsTotalBytes: size('max-outputs-total', DEFAULT_SETTINGS.maxOutputsTotalBytes),
    maxLogOutputsBytes: size('max-log-outputs', DEFAULT_SETTINGS.maxLogOutputsBytes),
  };
  const { maxOutputBytes, maxOutputsTotalBytes, maxLogOutputsBytes } = limits;
  if (maxOutputBytes === 0) throw noOutput('--max-output-size');
  if (maxOutputsTotalBytes === 0) throw noOutput('--max-outputs-total');
  if (flags['max-output-size'] !== undefined && maxOutputBytes > maxOutputsTotalBytes) {
    const [one, all] = [sizeText(maxOutputBytes), sizeText(maxOutputsTotalBytes)];
    throw new CnabError('invalid', `--max-output-size of ${one} is over --max-outputs-total of ${all}: raise that too`);
  }
  // Without the log everything comes by exec, which is a fair wish.
  if (maxLogOutputsBytes === 0 && flags['outputs-via'] === 'log') throw noOutput('--outputs-via log --max-log-outputs');
  return limits;
}

function noOutput(flag: string): CnabError {
  return new CnabError('invalid', `${flag} 0 would let no output through: write a size like 1GiB`);
}

function userId(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new CnabError('invalid', `--run-as-user ${JSON.stringify(text)} is no user id`);
  return Number(text);
}
