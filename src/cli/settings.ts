import { DEFAULT_SETTINGS, type DriverSettings } from '../driver/settings.js';
import { CnabError } from '../errors.js';
import type { ActionFlags } from './action-flags.js';
import { parseDuration } from './durations.js';
import { parsePair } from './pairs.js';
import { parseSize } from './sizes.js';

/** What the flags say about how a run is carried out. Throws CnabError `invalid`. */
export function settingsOf(flags: ActionFlags): DriverSettings {
  const duration = (name: 'timeout' | 'start-timeout' | 'grace-period' | 'hold-time', otherwise: number): number => {
    const given = flags[name];
    return given === undefined ? otherwise : parseDuration(given, `--${name}`);
  };
  const size = (name: 'max-output-size' | 'max-outputs-total' | 'max-log-outputs', otherwise: number): number => {
    const given = flags[name];
    return given === undefined ? otherwise : parseSize(given, `--${name}`);
  };
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
    outputsVia: via(flags['outputs-via']),
    sensitiveOutputs: flags['sensitive-outputs'] === 'log' ? 'log' : 'exec',
    timeoutMs: duration('timeout', DEFAULT_SETTINGS.timeoutMs),
    startTimeoutMs: duration('start-timeout', DEFAULT_SETTINGS.startTimeoutMs),
    gracePeriodMs: duration('grace-period', DEFAULT_SETTINGS.gracePeriodMs),
    holdTimeMs: duration('hold-time', DEFAULT_SETTINGS.holdTimeMs),
    maxOutputBytes: size('max-output-size', DEFAULT_SETTINGS.maxOutputBytes),
    maxOutputsTotalBytes: size('max-outputs-total', DEFAULT_SETTINGS.maxOutputsTotalBytes),
    maxLogOutputsBytes: size('max-log-outputs', DEFAULT_SETTINGS.maxLogOutputsBytes),
  };
}

/** The flag's own options leave nothing else. */
function via(text: string | undefined): DriverSettings['outputsVia'] {
  return text === 'log' || text === 'exec' ? text : 'auto';
}

function userId(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text)) throw new CnabError('invalid', `--run-as-user ${JSON.stringify(text)} is no user id`);
  return Number(text);
}
