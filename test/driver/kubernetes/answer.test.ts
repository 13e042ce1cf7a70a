import assert from 'node:assert/strict';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { httpPeer, json } from '../../helpers/http-peer.js';

describe('an answer', () => {
  const ANSWERS = [
    ...[null, [], 'x', 7, { metadata: [] }, { items: 7 }, { items: {} }, { items: [null] }, { items: [{}] }],
    { items: [{ metadata: {}, status: 'Running' }] },
  ];
  for (const answer of ANSWERS) {
    it(`of JSON that has not the outline of an object or a list is refused, and no bug: ${JSON.stringify(answer)}`, async () => {
      const peer = await httpPeer(json(answer));
      const api = new KubernetesApi(plainConnection({ server: peer.url, token: 't0k' }), {});
      const call = { doing: 'list pods', signal: new AbortController().signal };
      await assert.rejects(
        api.list('/pods', call),
        /^CnabError: cannot list pods: http:\S+ answered with JSON that is no object of Kubernetes$/,
      );
      api.close();
      await peer.close();
    });
  }
});
