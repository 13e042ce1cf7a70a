import type { V1Job } from '@kubernetes/client-node';
import type { Json, JsonObject } from '../../bundle/bundle.js';
import { CnabError } from '../../errors.js';
import type { PodPatch } from '../settings.js';
import { refuse } from './environment.js';
import { podInvariantProblems } from './pod-invariants.js';
import { POD_SCHEMA } from './pod-schema.js';
import { MergeError, strategicMerge } from './strategic-merge.js';

/**
 * The Job with the user's patch applied to its pod template, and held to what a run rests on. Pure; throws CnabError
 * `invalid` that names every field which a patch may not change.
 */
export function patchJob(job: V1Job, podPatch: PodPatch): V1Job {
  const { file } = podPatch;
  const patch = templatePatch(podPatch);
  // Without the members that are undefined, as it would be sent.
  const plain = JSON.parse(JSON.stringify(job)) as JsonObject & { readonly spec: { readonly template: JsonObject } };
  const { template } = plain.spec;
  let patched: JsonObject;
  try {
    patched = strategicMerge(template, patch, POD_SCHEMA);
  } catch (error) {
    if (!(error instanceof MergeError)) throw error;
    throw new CnabError('invalid', `the pod patch ${file} cannot be applied: ${error.message}`, { cause: error });
  }
  refuse(`the pod patch ${file} changes what a run rests on`, podInvariantProblems(template, patched));
  return { ...plain, spec: { ...plain.spec, template: patched } };
}

/** A patch is a Pod, or the spec of one: what it says of a pod template. Throws CnabError `invalid` where it is neither. */
export function templatePatch({ document, file }: PodPatch): JsonObject {
  const { apiVersion, kind, metadata, spec, ...rest } = document;
  const isOther = (kind ?? 'Pod') !== 'Pod' || (apiVersion ?? 'v1') !== 'v1';
  if (isOther) {
    throw new CnabError(
      'invalid',
      `the pod patch ${file} is no Pod of v1: its kind is ${JSON.stringify(kind ?? null)}, its apiVersion ${JSON.stringify(apiVersion ?? null)}`,
      {
        suggestions: ['a pod patch has metadata and spec of a Pod, like {"spec": {"nodeSelector": {"disk": "ssd"}}}'],
      },
    );
  }
  const isPod = kind !== undefined || metadata !== undefined || spec !== undefined;
  if (!isPod) return { spec: rest };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw new CnabError('invalid', `the pod patch ${file} has ${JSON.stringify(unknown)} beside metadata and spec`);
  }
  for (const [name, value] of Object.entries({ metadata, spec })) {
    if (value !== undefined && !isObject(value)) {
      throw new CnabError('invalid', `the pod patch ${file} has no object as its ${name}`);
    }
  }
  return { ...(metadata === undefined ? {} : { metadata }), ...(spec === undefined ? {} : { spec }) };
}

function isObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
