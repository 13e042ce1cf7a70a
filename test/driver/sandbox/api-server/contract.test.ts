import http from 'node:http';
import { execClient } from '../../../helpers/exec-client.js';
import { startTestApiServer, type TestApiServer } from '../../../helpers/api-server.js';
import { contractCases } from '../../../helpers/api-server-contract-cases.js';
import { execContractCases } from '../../../helpers/api-server-contract-exec-cases.js';
import { resourceContractCases } from '../../../helpers/api-server-contract-resource-cases.js';
import { eachLine, type ContractCluster } from '../../../helpers/api-server-contract.js';

let server: TestApiServer;

before(async () => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespaces = [{ name: 'default' }, { name: 'strict', labels }];
  // A status that tells of a failure comes only with the sync after it, which is 10 s later in a cluster.
  server = await startTestApiServer({ namespaces, kubelet: { syncRetryMs: 1_000 } });
});
after(() => server.close());

const cluster = (): ContractCluster => {
  const headers = { authorization: `Bearer ${server.token}` };
  return {
    namespace: 'default',
    restricted: 'strict',
    image: 'busybox:1.37.0',
    mergesStatuses: false,
    request: async (method, path, body) => {
      const { status, headers, text } = await server.request(method, path, body);
      return { status, headers: Object.fromEntries(headers), text };
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
};

contractCases('what the sandbox has in common with a cluster', cluster);
resourceContractCases('what can be found and read back in the sandbox', cluster);
execContractCases('an exec into a container of the sandbox', cluster);
