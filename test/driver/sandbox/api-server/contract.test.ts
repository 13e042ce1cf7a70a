import http from 'node:http';
import { startTestApiServer, type TestApiServer } from '../../../helpers/api-server.js';
import { contractCases } from '../../../helpers/api-server-contract-cases.js';
import { eachLine, type ContractCluster } from '../../../helpers/api-server-contract.js';

let server: TestApiServer;

before(async () => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespaces = [{ name: 'default' }, { name: 'strict', labels }];
  // A status that tells of a failure comes only with the sync after it, which is 10 s later in a cluster.
  server = await startTestApiServer({ namespaces, kubelet: { syncRetryMs: 200 } });
});
after(() => server.close());

contractCases('what the sandbox has in common with a cluster', (): ContractCluster => {
  return {
    namespace: 'default',
    restricted: 'strict',
    image: 'busybox:1.37.0',
    request: async (method, path, body) => {
      const { status, headers, text } = await server.request(method, path, body);
      return { status, headers: Object.fromEntries(headers), text };
    },
    stream: (path, line) =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${server.token}` };
        const request = http.get(`${server.url}${path}`, { headers, agent: false }, (response) => {
          eachLine(response, line);
          resolve(() => request.destroy());
        });
        request.on('error', reject);
      }),
  };
});
