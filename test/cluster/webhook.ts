import assert from 'node:assert/strict';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { V1Pod } from '@kubernetes/client-node';
import { TestAuthority } from '../helpers/certificates.js';
import type { Case } from './case.js';
import { eventually } from './eventually.js';

/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

interface AdmissionReview {
  readonly request: { readonly uid: string; readonly object: V1Pod };
}

const NODE_ADDRESS = '10.99.0.1';
const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';

/**
 * A mutating admission webhook for the pods of the case's namespace, as service meshes and policy engines have one.
 * Resolves when the API server asks it. Needs the own node: the API server must reach this process.
 */
export async function patchPods(one: Case, patch: (pod: V1Pod) => readonly PatchOperation[]): Promise<void> {
  const authority = new TestAuthority(join(one.home, 'webhook'));
  const { cert, key } = authority.issue('webhook', [`IP:${NODE_ADDRESS}`]);
  const server = https.createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { uid, object } = (JSON.parse(Buffer.concat(chunks).toString()) as AdmissionReview).request;
      const operations = [{ op: 'add', path: '/metadata/labels/patched', value: 'yes' }, ...patch(object)];
      const answer = { uid, allowed: true, patchType: 'JSONPatch', patch: base64(JSON.stringify(operations)) };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, NODE_ADDRESS, resolve));
  one.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  await one.api.create(CONFIGURATIONS, {
    metadata: { name: one.namespace },
    webhooks: [
      {
        name: 'pods.cnab.test',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        clientConfig: { url: `https://${NODE_ADDRESS}:${port}/`, caBundle: base64(authority.ca) },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': one.namespace } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      },
    ],
  });
  one.defer(() => one.api.remove(`${CONFIGURATIONS}/${one.namespace}`));
  await eventually('the API server asks the webhook', 30, async () => {
    const made = await one.api.create<V1Pod>(`/api/v1/namespaces/${one.namespace}/pods?dryRun=All`, PROBE);
    return made.metadata?.labels?.['patched'] === 'yes';
  });
}

/** Has the containers and volumes that patches speak of. */
const PROBE = {
  metadata: { name: 'probe', labels: { probe: 'yes' } },
  spec: {
    initContainers: [{ name: 'outputs', image: 'none', resources: { limits: {}, requests: {} }, securityContext: {} }],
    containers: [{ name: 'invocation', image: 'none' }],
    volumes: [{ name: 'outputs', emptyDir: {} }],
  },
};

/** The position of a volume, for a patch's path. */
export function volumeIndex(pod: V1Pod, name: string): number {
  const index = pod.spec?.volumes?.findIndex((volume) => volume.name === name) ?? -1;
  assert.ok(index >= 0, `the pod has a volume ${name}`);
  return index;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
