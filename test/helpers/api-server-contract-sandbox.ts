import http from 'node:http';
import { eachLine, type ContractCluster } from './api-server-contract.js';
import type { TestApiServer } from './api-server.js';
import { execClient } from './exec-client.js';

/** A server with the namespaces `default` and `strict`, as the contract's cases ask a cluster. */
export function sandboxCluster(
  server: TestApiServer,
  parts: Pick<ContractCluster, 'annotations'> = {},
): ContractCluster {
  const headers = { authorization: `Bearer ${server.token}` };
  return {
    namespace: 'default',
    restricted: 'strict',
    image: 'busybox:1.37.0',
    mergesStatuses: false,
    ...parts,
    request: async (method, path, body) => {
      const answer = await server.request(method, path, body);
      return { status: answer.status, headers: Object.fromEntries(answer.headers), text: answer.text };
    },
    stream: (path, line) =>
      new Promise((resolve, reject) => {
        const request = http.get(`${server.url}${path}`, { headers, agent: false }, (response) => {
          eachLine(response, line);
          resolve(() => request.destroy());
        });
        request.on('error', reject);
      }),
    exec: (path, options) => execClient(`${server.url}${path}`, { ...options, http: { headers } }),
  };
}
