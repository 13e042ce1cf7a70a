import { startTestApiServer, type TestApiServer } from '../../../helpers/api-server.js';
import { contractCases } from '../../../helpers/api-server-contract-cases.js';
import { execContractCases } from '../../../helpers/api-server-contract-exec-cases.js';
import { resourceContractCases } from '../../../helpers/api-server-contract-resource-cases.js';
import type { ContractCluster } from '../../../helpers/api-server-contract.js';
import { sandboxCluster } from '../../../helpers/api-server-contract-sandbox.js';

let server: TestApiServer;

before(async () => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const namespaces = [{ name: 'default' }, { name: 'strict', labels }];
  // A status that tells of a failure comes only with the sync after it, which is 10 s later in a cluster.
  server = await startTestApiServer({ namespaces, kubelet: { syncRetryMs: 1_000 } });
});
after(() => server.close());

const cluster = (): ContractCluster => sandboxCluster(server);

contractCases('what the sandbox has in common with a cluster', cluster);
resourceContractCases('what can be found and read back in the sandbox', cluster);
execContractCases('an exec into a container of the sandbox', cluster);
