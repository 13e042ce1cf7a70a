import { createHash } from 'node:crypto';

/** Names of the objects and labels of a run. Everything that finds a run again is spelled here, once. */
export const LABEL = {
  managedBy: 'app.kubernetes.io/managed-by',
  driver: 'cnab.io/driver',
  run: 'cnab.io/run',
  action: 'cnab.io/action',
  installation: 'cnab.io/installation',
} as const;

export const ANNOTATION = {
  run: 'cnab.io/run',
  installation: 'cnab.io/installation',
  action: 'cnab.io/action',
  revision: 'cnab.io/revision',
  bundle: 'cnab.io/bundle',
  /** `true`: the action leaves no record. */
  stateless: 'cnab.io/stateless',
  /** `true`: the Job is to stay, also for whoever takes the run up. */
  keepJob: 'cnab.io/keep-job',
  /** Of the Job alone: who is on the run. */
  holder: 'cnab.io/holder',
} as const;

export const OUTPUTS_CONTAINER = 'outputs';
export const INVOCATION_CONTAINER = 'invocation';

/** A DNS label (RFC 1123), so that it is a legal name for the Job, its pod's labels and its Secrets. */
const MAX_LABEL = 63;
const MAX_ACTION_SLUG = 14;

export interface RunIdentity {
  readonly runId: string;
  readonly action: string;
  readonly installation: string;
}

/**
 * The name of a run's Job: `cnab-<action>-<installation>-<run id>`, at most 63 characters.
 * The same run gives the same name, so a second process finds it, and a repeated POST cannot make a second Job.
 * `attempt` 2 is the one after a refusal of the pod, when the first Job is still on its way out.
 */
export function jobName(run: RunIdentity, attempt = 1): string {
  const id = run.runId.toLowerCase() + (attempt === 1 ? '' : `-${attempt}`);
  const room = MAX_LABEL - 'cnab-'.length - '-'.length - id.length;
  const action = slug(run.action, MAX_ACTION_SLUG);
  const installation = slug(run.installation, room - action.length - 1);
  return ['cnab', action, installation, id].filter((part) => part !== '').join('-');
}

/** The first Secret has the Job's name; further ones, where the inputs need them, a number. */
export function secretName(job: string, index: number): string {
  return index === 0 ? job : `${job}-${index + 1}`;
}

/** Letters and digits of a DNS label, the rest as single hyphens; empty when nothing is left. */
function slug(text: string, limit: number): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, Math.max(0, limit))
    .replace(/-+$/, '');
}

const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;
const LABEL_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;

/** The text itself where a label can hold it, else a hash of it: installation names may be any graphic text (spec 103). */
export function labelValue(text: string): string {
  if (text !== '' && LABEL_VALUE.test(text)) return text;
  return `sha256-${createHash('sha256').update(text).digest('hex').slice(0, 40)}`;
}

/** Why a label that a user asked for is not usable; undefined when it is. */
export function labelProblem(key: string, value: string): string | undefined {
  const slash = key.indexOf('/');
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  if (prefix !== undefined && (prefix.length > 253 || !DNS_SUBDOMAIN.test(prefix)))
    return 'its prefix is not a DNS name';
  if (!LABEL_NAME.test(name)) return 'its name is not 1 to 63 letters, digits, "-", "_" and "."';
  if (prefix === 'cnab.io' || key === LABEL.managedBy) return 'it is one of the labels by which a run is found again';
  if (
    prefix === 'kubernetes.io' ||
    prefix === 'k8s.io' ||
    prefix?.endsWith('.kubernetes.io') ||
    prefix?.endsWith('.k8s.io')
  ) {
    return 'its prefix is reserved for Kubernetes itself';
  }
  if (!LABEL_VALUE.test(value)) return 'its value is not at most 63 letters, digits, "-", "_" and "."';
  return undefined;
}

/** A Kubernetes object name as most kinds take it (DNS subdomain, RFC 1123). */
export function isObjectName(name: string): boolean {
  return name.length <= 253 && DNS_SUBDOMAIN.test(name);
}
