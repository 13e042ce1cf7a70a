import { badRequest } from './api-error.js';
import type { KubernetesObject, ResourceName } from './objects.js';

export type Selector = (object: KubernetesObject) => boolean;

const EVERYTHING: Selector = () => true;
const KEY = /^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$/;

/** `a=b,c!=d`: of the label selectors the equality-based ones. Throws ApiError 400 for anything else. */
export function labelSelector(text: string | null): Selector {
  if (text === null || text.trim() === '') return EVERYTHING;
  const tests = text.split(',').map((part) => labelRequirement(part.trim()));
  return (object) => tests.every((test) => test(object.metadata.labels ?? {}));
}

function labelRequirement(text: string): (labels: Readonly<Record<string, string>>) => boolean {
  const [, key = '', operator, value] = /^([^=!\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/.exec(text) ?? [];
  if (!KEY.test(key)) {
    throw badRequest(`unable to parse requirement: found '${text}', expected: =, ==, != (no others are answered here)`);
  }
  return (labels) => (labels[key] === value) === (operator !== '!=');
}

type Fields = Readonly<Record<string, (object: never) => string>>;
const META: Fields = {
  'metadata.name': (object: KubernetesObject) => object.metadata.name,
  'metadata.namespace': (object: KubernetesObject) => object.metadata.namespace ?? '',
};

/** The fields that a real API server knows for each resource (those in use here). */
const FIELDS: { readonly [K in ResourceName]: Fields } = {
  namespaces: { ...META, 'status.phase': field('status', 'phase') },
  secrets: { ...META, type: field('type') },
  configmaps: META,
  pods: {
    ...META,
    'spec.nodeName': field('spec', 'nodeName'),
    'spec.restartPolicy': field('spec', 'restartPolicy'),
    'spec.serviceAccountName': field('spec', 'serviceAccountName'),
    'status.phase': field('status', 'phase'),
    'status.podIP': field('status', 'podIP'),
  },
  events: {
    ...META,
    ...Object.fromEntries(
      ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map((name) => [
        `involvedObject.${name}`,
        field('involvedObject', name),
      ]),
    ),
    reason: field('reason'),
    reportingComponent: field('reportingComponent'),
    source: field('source', 'component'),
    type: field('type'),
  },
  jobs: { ...META, 'status.successful': field('status', 'succeeded') },
};

function field(...path: readonly string[]): (object: unknown) => string {
  return (object) => {
    const value = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], object);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
}

/** `metadata.name=x,status.phase!=Failed`. Throws ApiError 400 for a field that the resource does not have. */
export function fieldSelector(resource: ResourceName, text: string | null): Selector {
  if (text === null || text.trim() === '') return EVERYTHING;
  const tests = text.split(',').map((part) => fieldRequirement(resource, part));
  return (object) => tests.every((test) => test(object));
}

function fieldRequirement(resource: ResourceName, text: string): Selector {
  const [, key = '', operator = '', wanted = ''] = /^([^=!]+)(==|=|!=)(.*)$/s.exec(text) ?? [];
  if (operator === '') {
    throw badRequest(`invalid selector: '${text}'; can't understand '${text}'`);
  }
  const known = FIELDS[resource];
  const read = Object.hasOwn(known, key) ? (known[key] as (object: KubernetesObject) => string) : undefined;
  if (!read) throw badRequest(`field label not supported: ${key}`);
  return (object) => (read(object) === wanted) === (operator !== '!=');
}

export function allOf(...selectors: readonly Selector[]): Selector {
  return (object) => selectors.every((selector) => selector(object));
}
