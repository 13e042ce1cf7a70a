import type { JsonObject } from '../../bundle/bundle.js';
import type { PodPatch } from '../settings.js';
import { INVOCATION_CONTAINER, OUTPUTS_CONTAINER } from './names.js';
import { templatePatch } from './pod-patch.js';
import { POD_SCHEMA } from './pod-schema.js';
import { strategicMerge } from './strategic-merge.js';

type Kind = 'requests' | 'limits';
type Resources = { requests?: Record<string, string>; limits?: Record<string, string> };

/** What a container asks for where the cluster only says that it must ask: the bundle's, and what the sidecar needs at most. */
const USUAL: Readonly<Record<string, Readonly<Record<string, Readonly<Record<Kind, string>>>>>> = {
  [INVOCATION_CONTAINER]: {
    cpu: { requests: '100m', limits: '500m' },
    memory: { requests: '128Mi', limits: '512Mi' },
  },
  [OUTPUTS_CONTAINER]: {
    cpu: { requests: '10m', limits: '200m' },
    memory: { requests: '64Mi', limits: '160Mi' },
  },
};
const UNKNOWN = { requests: '1Gi', limits: '1Gi' } as const;
const CONTAINERS = [INVOCATION_CONTAINER, OUTPUTS_CONTAINER] as const;

/**
 * The pod patch that heals a refusal, as far as its words say what is asked for; undefined where no patch can.
 * The words are those of Kubernetes' quota, LimitRange and scheduler.
 */
export function patchForDenial(message: string): JsonObject | undefined {
  return patchForQuota(message) ?? patchForLimitRange(message) ?? patchForTaint(message);
}

/** Lines to paste, for people; with what a patch of theirs says already. */
export function linesToPaste(patch: JsonObject, current: PodPatch | undefined): readonly string[] {
  const whole = current === undefined ? patch : strategicMerge(templatePatch(current), patch, POD_SCHEMA);
  const json = JSON.stringify(whole).replaceAll("'", `'\\''`);
  return [`  echo '${json}' > pod-patch.json`, '  and add: --pod-patch pod-patch.json'];
}

/** `failed quota: q: must specify limits.cpu for: invocation,outputs; requests.memory for: invocation`. */
function patchForQuota(message: string): JsonObject | undefined {
  const told = /failed quota: [^:]*: must specify (.*)$/s.exec(message)?.[1];
  if (told === undefined) return undefined;
  const wanted = new Map<string, Resources>();
  for (const [, name = '', containers = ''] of told.matchAll(/([\w./-]+) for: ([\w,-]+)/g)) {
    const kind: Kind = name.startsWith('limits.') ? 'limits' : 'requests';
    const resource = name.replace(/^(?:limits|requests)\./, '');
    for (const container of containers.split(',')) {
      const { [kind]: sofar, ...rest } = wanted.get(container) ?? {};
      const usual = USUAL[container]?.[resource] ?? UNKNOWN;
      wanted.set(container, { ...rest, [kind]: { ...sofar, [resource]: usual[kind] } });
    }
  }
  return patchOf(wanted);
}

interface Bounds {
  min?: number;
  max?: number;
}

/**
 * `minimum memory usage per Container is 100Mi, but request is 42Mi`, `maximum cpu usage per Pod is 1.  No limit is
 * specified`, `memory max limit to request ratio per Container is 2, but provided ratio is 4`. Request and limit become
 * the same: no ratio forbids that.
 */
function patchForLimitRange(message: string): JsonObject | undefined {
  const bounds = new Map<string, Bounds>();
  const bound = (resource: string): Bounds => {
    const found = bounds.get(resource) ?? {};
    bounds.set(resource, found);
    return found;
  };
  const told = /(minimum|maximum) ([\w./-]+) usage per (Container|Pod) is (\d[\w.]*?)(?=[,.]?(?:\s|\]|$))/g;
  for (const [, which, resource = '', scope, quantity = ''] of message.matchAll(told)) {
    const value = numberOf(quantity);
    if (value === undefined) continue;
    // The pod's share of each of its two containers.
    const each = scope === 'Pod' ? value / 2 : value;
    if (which === 'minimum') bound(resource).min = Math.max(each, bound(resource).min ?? 0);
    else bound(resource).max = Math.min(each, bound(resource).max ?? Infinity);
  }
  for (const [, resource = ''] of message.matchAll(/([\w./-]+) max limit to request ratio per /g)) bound(resource);
  const resources = (container: string): Resources => {
    const values = [...bounds].map(([resource, { min = 0, max = Infinity }]): [string, string] => {
      const usual = numberOf((USUAL[container]?.[resource] ?? UNKNOWN).limits) ?? 0;
      return [resource, quantityOf(resource, Math.min(Math.max(usual, min), max))];
    });
    return { requests: Object.fromEntries(values), limits: Object.fromEntries(values) };
  };
  return bounds.size === 0 ? undefined : patchOf(new Map(CONTAINERS.map((name) => [name, resources(name)])));
}

/** `1 node(s) had untolerated taint {dedicated: gpu}`; since 1.35 the scheduler no longer says which. */
function patchForTaint(message: string): JsonObject | undefined {
  const known = [...message.matchAll(/untolerated taint \{([^:}]+): ?([^}]*)\}/g)];
  if (known.length === 0) {
    return message.includes('untolerated taint') ? tolerating([{ key: 'KEY', operator: 'Exists' }]) : undefined;
  }
  const keys = new Map(known.map(([, key = '', value = '']) => [key, value]));
  return tolerating(
    [...keys].map(([key, value]) => (value === '' ? { key, operator: 'Exists' } : { key, operator: 'Equal', value })),
  );
}

function tolerating(tolerations: readonly JsonObject[]): JsonObject {
  return { spec: { tolerations } };
}

function patchOf(wanted: ReadonlyMap<string, Resources>): JsonObject | undefined {
  if (wanted.size === 0) return undefined;
  const containers = [...wanted].map(([name, resources]) => ({ name, resources: resources }));
  const isSidecar = ({ name }: { name: string }): boolean => name === OUTPUTS_CONTAINER;
  const [ours, others] = [containers.filter(isSidecar), containers.filter((container) => !isSidecar(container))];
  return {
    spec: {
      ...(ours.length === 0 ? {} : { initContainers: ours }),
      ...(others.length === 0 ? {} : { containers: others }),
    },
  };
}

const SUFFIXES: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
};

/** A Kubernetes quantity in its unit (cores, bytes); undefined for one that is written otherwise. */
function numberOf(quantity: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(quantity);
  const factor = SUFFIXES[match?.[2] ?? ''];
  return match === null || factor === undefined ? undefined : Number(match[1]) * factor;
}

function quantityOf(resource: string, value: number): string {
  if (resource === 'cpu') return `${Math.round(value * 1000)}m`;
  const mebibytes = value / 1024 ** 2;
  return Number.isInteger(mebibytes) ? `${mebibytes}Mi` : `${Math.floor(value)}`;
}
