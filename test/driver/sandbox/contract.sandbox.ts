import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { BUNDLE_FOLDER_ANNOTATION } from '../../../src/driver/sandbox/namespaces/bundle-folder.js';
import { createNamespaceRuntime } from '../../../src/driver/sandbox/namespaces/runtime.js';
import { startTestApiServer, type TestApiServer } from '../../helpers/api-server.js';
import { contractCases } from '../../helpers/api-server-contract-cases.js';
import { execContractCases } from '../../helpers/api-server-contract-exec-cases.js';
import type { ContractCluster } from '../../helpers/api-server-contract.js';
import { sandboxCluster } from '../../helpers/api-server-contract-sandbox.js';
import { skipWithoutNamespaces } from './namespaces/machine.js';
import { makeBundle } from './operation.js';

describe('containers of Linux namespaces behind the API server', () => {
  let server: TestApiServer | undefined;
  let home: string | undefined;
  let annotations: Readonly<Record<string, string>>;

  before(async function () {
    const uid = process.getuid?.() ?? -1;
    await skipWithoutNamespaces(this, uid);
    home = mkdtempSync(join(tmpdir(), 'cnab-contract-'));
    annotations = { [BUNDLE_FOLDER_ANNOTATION]: makeBundle(home, 'true') };
    server = await startTestApiServer({
      namespaces: [
        { name: 'default' },
        { name: 'strict', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      ],
      kubelet: { syncRetryMs: 1_000 },
      runtime: (folder) => createNamespaceRuntime({ uid, volumeFolders: [folder] }),
    });
  });
  after(async () => {
    await server?.close();
    if (home !== undefined) rmSync(home, { recursive: true });
  });
  const cluster = (): ContractCluster => {
    if (server === undefined) throw new Error('the server was not started');
    return sandboxCluster(server, { annotations });
  };

  contractCases('what they have in common with those of a cluster', cluster);
  execContractCases('an exec into one of them', cluster);
});
