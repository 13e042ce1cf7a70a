import type { JsonObject } from '../../bundle/bundle.js';
import type { PodPatch } from '../settings.js';
import { checkWith, type KubectlWay } from './kubectl.js';
import { linesToPaste, patchForDenial } from './patch-to-paste.js';

/**
 * What to do about a refusal, from the words of the API server's admission and authorization
 * (the same words come in a Job's FailedCreate events). A pod patch to paste holds the current one too. `way`: where a kubectl command is to go.
 */
export function suggestionsForDenial(message: string, current?: PodPatch, way: KubectlWay = {}): readonly string[] {
  const rbac = parseForbidden(message);
  if (rbac !== undefined) {
    const { namespace } = rbac;
    const missing = `${rbac.verb} on ${rbac.resource}`;
    return [
      namespace === undefined
        ? `A ClusterRole must allow: ${missing}.`
        : `A Role in namespace ${namespace} must allow: ${missing}.`,
      ...checkWith(way, namespace, `${rbac.verb} ${rbac.resource}`),
    ];
  }
  const patch = patchForDenial(message);
  for (const [pattern, suggestion, example] of KNOWN) {
    if (!pattern.test(message)) continue;
    const shown = example ?? patch;
    return shown === undefined ? [suggestion] : [suggestion, ...linesToPaste(shown, current)];
  }
  return [];
}

/** What asks for a label is the commonest of policies. */
const LABELLED = { metadata: { labels: { KEY: 'VALUE' } } };

/** The last member: what a patch may look like where the words do not tell. */
const KNOWN: readonly (readonly [RegExp, string, JsonObject?])[] = [
  [/exceeded quota/, 'Free some of the quota, or ask for a larger one: kubectl describe resourcequota'],
  [
    /failed quota.*must specify/,
    'The quota wants requests and limits on every container: give it these, or what the bundle needs:',
  ],
  [
    /(maximum|minimum) \S+ usage per|max limit to request ratio/,
    'The LimitRange of the namespace forbids it (kubectl describe limitrange): give the pod what it allows:',
  ],
  [/untolerated taint \{/, 'Nodes are kept for others by a taint: if they are meant for this run too, tolerate it:'],
  [
    /untolerated taint/,
    'Nodes are kept for others by a taint (kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints): if they are meant for this run too, tolerate it:',
  ],
  [
    /violates PodSecurity/,
    'The namespace enforces a Pod Security level that the pod does not meet: use another namespace, or --run-as-user UID.',
  ],
  [
    /because it is being terminated/,
    'The namespace is being deleted: wait until it is gone, or choose another one with --namespace.',
  ],
  [
    /^namespaces "[^"]*" not found/,
    'Create the namespace with --create-namespace, or choose another one with --namespace.',
  ],
  [
    /admission webhook "[^"]*" denied|ValidatingAdmissionPolicy \S+ .*denied/,
    'A policy of the cluster denied it: give the pod what the policy asks for, in a patch like this:',
    LABELLED,
  ],
  [/failed calling webhook/, 'A webhook of the cluster does not answer; its administrators must repair or remove it.'],
  [
    /error looking up service account|serviceaccount "[^"]*" not found/,
    'Create the service account, or name another one with --service-account.',
  ],
];

export interface Forbidden {
  readonly user: string;
  readonly verb: string;
  /** With its API group: `jobs.batch`; with its subresource: `pods/log`. */
  readonly resource: string;
  readonly namespace?: string;
}

/** Reads the authorizer's sentence (apiserver, responsewriters.Forbidden); undefined for any other refusal. */
export function parseForbidden(message: string): Forbidden | undefined {
  const match =
    /User "((?:[^"\\]|\\.)*)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]*)"| at the cluster scope)?/.exec(
      message,
    );
  if (match === null) return undefined;
  const [, user = '', verb = '', resource = '', group = '', namespace] = match;
  const [kind = '', subresource] = resource.split('/');
  const full = (group === '' ? kind : `${kind}.${group}`) + (subresource === undefined ? '' : `/${subresource}`);
  return { user, verb, resource: full, ...(namespace === undefined ? {} : { namespace }) };
}
