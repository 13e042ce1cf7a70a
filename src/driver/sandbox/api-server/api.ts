import type { IncomingMessage } from 'node:http';
import { badRequest, methodNotAllowed, noSuchResource, notFound, tooLargeResourceVersion } from './api-error.js';
import { authorize } from './authorization.js';
import type { Cluster } from './cluster.js';
import { createObject } from './create-object.js';
import { deleteOptions } from './delete-options.js';
import { deleteObject } from './deletion.js';
import { offersProtocol, type ExecChannels } from './exec-channels.js';
import { execContainer, execQuery } from './exec-request.js';
import { serveExec } from './exec-session.js';
import { checkLogStatus, logContainer, logQuery } from './log-response.js';
import { readLog } from './log-reader.js';
import { RESOURCES, type KubernetesObject, type ResourceName } from './objects.js';
import type { Pod } from './pod-objects.js';
import { patchObject } from './patch-object.js';
import { jsonBody } from './request-body.js';
import { resourceOf, type RequestInfo } from './request-info.js';
import type { ResponseBody } from './response-body.js';
import { review } from './reviews.js';
import { allOf, fieldSelector, labelSelector, type Selector } from './selectors.js';
import { listedVersion, serveWatch, watchedVersion } from './watch-response.js';

/** A whole answer, one that streams, or a session over an upgraded connection. */
export type Answer =
  | { readonly status: number; readonly body: unknown; readonly warnings?: readonly string[] }
  | { readonly status: number; readonly text: string }
  | { readonly exec: (channels: ExecChannels) => Promise<void> }
  | { readonly contentType: string; readonly stream: (body: ResponseBody) => Promise<void> }
  | 'nothing';

const AUTHORIZATION = 'authorization.k8s.io';
const GROUPS = ['', 'batch'];

/** Carries out one request that was authenticated. Throws ApiError. */
export async function answer(
  cluster: Cluster,
  version: unknown,
  info: RequestInfo,
  request: IncomingMessage,
): Promise<Answer> {
  authorize(cluster.faults, info);
  if (info.path === '/version') return { status: 200, body: version };
  if (info.group === AUTHORIZATION) {
    if (info.verb !== 'create') throw methodNotAllowed();
    const body = review(info.resource, ((await jsonBody(request)) ?? {}) as Record<string, unknown>, cluster.faults);
    if (body === undefined) throw noSuchResource();
    return { status: 201, body };
  }
  if (!GROUPS.includes(info.group) || info.resource === '') return { status: 404, text: '404 page not found\n' };
  const resource = resourceOf(info);
  if (!resource) throw noSuchResource();
  if (info.subresource !== '') return subresourceAnswer(cluster, resource, info, request);
  switch (info.verb) {
    case 'get':
      return { status: 200, body: find(cluster, resource, info) };
    case 'list':
      return { status: 200, body: list(cluster, resource, info) };
    case 'watch':
      return watch(cluster, resource, info);
    case 'create': {
      const { body, warnings } = createObject(cluster, resource, info, await jsonBody(request));
      return { status: 201, body, warnings };
    }
    case 'patch': {
      const patch = await jsonBody(request, 'application/merge-patch+json');
      return { status: 200, body: patchObject(cluster.store, resource, find(cluster, resource, info), patch) };
    }
    case 'delete': {
      if (resource === 'namespaces') throw methodNotAllowed();
      const options = deleteOptions(info.query, await jsonBody(request));
      const object = find(cluster, resource, info);
      const { body, warning } = deleteObject(cluster.store, cluster.clock, resource, object as never, options);
      return { status: 200, body, ...(warning === undefined ? {} : { warnings: [warning] }) };
    }
    case 'deletecollection':
      throw methodNotAllowed();
  }
}

function find(cluster: Cluster, resource: ResourceName, { namespace, name = '' }: RequestInfo): KubernetesObject {
  const scope = RESOURCES[resource].namespaced ? (namespace ?? '') : undefined;
  const object = cluster.store.get(resource, scope, name);
  if (!object) throw notFound(resource, name);
  return object;
}

function selectorOf(resource: ResourceName, { query }: RequestInfo): Selector {
  return allOf(labelSelector(query.get('labelSelector')), fieldSelector(resource, query.get('fieldSelector')));
}

function list(cluster: Cluster, resource: ResourceName, info: RequestInfo): unknown {
  const selector = selectorOf(resource, info);
  const least = listedVersion(info.query);
  if (least > cluster.store.revision) throw tooLargeResourceVersion(least, cluster.store.revision);
  const objects: readonly KubernetesObject[] = cluster.store.list(resource, info.namespace);
  const items = objects.filter(selector).map(({ kind: _kind, apiVersion: _apiVersion, ...rest }) => rest);
  const { kind, apiVersion } = RESOURCES[resource];
  const metadata = { resourceVersion: String(cluster.store.revision) };
  return { kind: `${kind}List`, apiVersion, metadata, items };
}

function watch(cluster: Cluster, resource: ResourceName, info: RequestInfo): Answer {
  const { namespace, query } = info;
  const text = query.get('timeoutSeconds') ?? '';
  if (!/^-?\d*$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  const timeout = Number(text);
  const options = {
    resource,
    namespace,
    selector: selectorOf(resource, info),
    resourceVersion: watchedVersion(query),
    timeoutSeconds: timeout > 0 ? timeout : undefined,
    bookmarks: query.get('allowWatchBookmarks') === 'true' || query.get('allowWatchBookmarks') === '1',
    delay: cluster.faults.watchDelayMs?.(info) ?? 0,
  };
  const stream = (body: ResponseBody): Promise<void> => serveWatch(cluster.store, cluster.clock, options, body);
  return { contentType: 'application/json', stream };
}

function subresourceAnswer(
  cluster: Cluster,
  resource: ResourceName,
  info: RequestInfo,
  request: IncomingMessage,
): Answer {
  const { subresource, verb, name = '' } = info;
  if (resource !== 'pods' || !['log', 'exec'].includes(subresource)) throw noSuchResource();
  if (verb !== 'get' && !(subresource === 'exec' && verb === 'create')) throw methodNotAllowed();
  const pod = cluster.store.get('pods', info.namespace, name);
  if (!pod) throw notFound('pods', name);
  return subresource === 'exec' ? execAnswer(cluster, pod, info, request) : logAnswer(cluster, pod, info);
}

function logAnswer(cluster: Cluster, pod: Pod, info: RequestInfo): Answer {
  const query = logQuery(pod.metadata.name, info.query, cluster.clock.now());
  const container = logContainer(pod, info.query.get('container'));
  if (pod.spec.nodeName === undefined) return 'nothing';
  checkLogStatus(pod, container, query.previous);
  const log = cluster.kubelet.log(pod, container, query.previous);
  const stream = async (body: ResponseBody): Promise<void> => {
    if (log) {
      for await (const chunk of readLog(log, query, body.closed)) if (!(await body.write(chunk))) return;
    }
    body.end();
  };
  return { contentType: 'text/plain', stream };
}

/** The last refusals are those of the kubelet and of the upgrade, which are no Status. */
function execAnswer(cluster: Cluster, pod: Pod, { query }: RequestInfo, request: IncomingMessage): Answer {
  const container = execContainer(pod, query.get('container'));
  if (pod.spec.nodeName === undefined) throw badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  if (request.headers.upgrade?.toLowerCase() !== 'websocket') throw badRequest('Upgrade request required');
  if (!offersProtocol(request)) return { status: 403, text: '' };
  const asked = execQuery(query);
  if (!asked.stdout && !asked.stderr) {
    return { status: 400, text: 'you must specify at least 1 of stdin, stdout, stderr' };
  }
  const running = cluster.kubelet.worker(pod.metadata.uid)?.container(container)?.process;
  if (running === undefined) return { status: 500, text: `container not found (${JSON.stringify(container)})` };
  return { exec: (channels) => serveExec(running, asked, channels) };
}
