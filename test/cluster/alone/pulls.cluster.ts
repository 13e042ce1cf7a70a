import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Case } from '../case.js';
import { clusterCases } from '../cases.js';
import { eventually } from '../eventually.js';
import { needsOwnNode, type OwnNode } from '../node.js';

// A kubelet pulls one image after the other, so a registry that does not answer holds up everybody's.
clusterCases('a run whose image is pulled for ever', (one) => {
  it('stopped by SIGINT: nothing has run; Job and Secret go at once, the pod when the pull ends', async function () {
    const hangUp = await silentRegistry(one(), needsOwnNode(this), 'silent-one.test:5000');
    const bundle = one().bundle({ script: 'true', image: 'silent-one.test:5000/tool:1' });
    const command = one().start(['install', 'app', bundle, '--json']);
    await pulling(one());
    command.kill('SIGINT');
    await command.says(/^interrupted/m);
    hangUp();
    const { code, stderr, document } = await one().acted(command);
    assert.equal(code, 130, stderr);
    assert.equal(document.status, 'canceled');
    assert.notEqual(document.ran, 'yes');
    await one().nothingIsLeft();
  });

  it('stopped by --start-timeout: told that it was pulled, exit 3', async function () {
    const hangUp = await silentRegistry(one(), needsOwnNode(this), 'silent-two.test:5000');
    const bundle = one().bundle({ script: 'true', image: 'silent-two.test:5000/tool:1' });
    const { code, stderr, document, told } = await one().install(bundle, ['--start-timeout', '5s']);
    assert.equal(code, 3, stderr);
    assert.equal(document.ran, 'no');
    assert.match(told, /did not start within 5 s.*silent-two/);
    hangUp();
    await one().nothingIsLeft();
  });
});

function pulling(one: Case): Promise<true> {
  return eventually('the image is pulled', 30, async () => {
    const events = await one.api.events(one.namespace);
    return events.some(({ reason, message }) => reason === 'Pulling' && message?.includes('silent') === true);
  });
}

/** A registry that takes connections and does not answer, until it hangs up on them. */
async function silentRegistry(one: Case, node: OwnNode, name: string): Promise<() => void> {
  const server = http.createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const undo = await node.registryAt(name, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const hangUp = (): void => {
    server.close();
    server.closeAllConnections();
  };
  one.defer(async () => {
    hangUp();
    await undo();
  });
  return hangUp;
}
