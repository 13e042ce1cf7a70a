import assert from 'node:assert/strict';
import { kubernetesTarget } from '../../../src/driver/kubernetes/target.js';
import { CnabError } from '../../../src/errors.js';
import { withApiServer, type ApiServerFaults } from '../../helpers/api-server.js';
import { fastClock } from '../../helpers/fast-clock.js';
import { testDriver } from '../../helpers/kubernetes-run.js';
import type { Target } from '../../../src/claim/target.js';
import type { DriverSettings } from '../../../src/driver/settings.js';

const never = new AbortController().signal;
const connection = { server: 'https://c.example:6443', context: 'prod', user: 'alice' };

function targetOn(order: (faults: ApiServerFaults) => void, settings: Partial<DriverSettings> = {}): Promise<Target> {
  return withApiServer({}, async (server) => {
    order(server.faults);
    const driver = testDriver(server, { settings });
    try {
      return await driver.target(never);
    } finally {
      await driver.close();
    }
  });
}

describe('the target of a cluster', () => {
  it('is known by the UID of its namespace and shown as context and namespace', () => {
    const target = kubernetesTarget(connection, {
      namespace: 'payments',
      uid: { of: 'namespace', value: 'c10b5c5f-859f-44d2-b89a-b43211055557' },
      restricted: false,
    });
    assert.deepEqual(target, {
      id: 'kubernetes-c10b5c5f-859f-44d2-b89a-b43211055557',
      driver: 'kubernetes',
      label: 'prod/payments',
      context: 'prod',
      server: 'https://c.example:6443',
      namespace: 'payments',
      uid: 'c10b5c5f-859f-44d2-b89a-b43211055557',
      user: 'alice',
    });
  });

  it('is another one on another server or in another namespace where no UID may be read', () => {
    const of = (server: string, namespace: string): string =>
      kubernetesTarget({ ...connection, server }, { namespace, restricted: false }).id;
    const ids = new Set([of('https://a', 'x'), of('https://b', 'x'), of('https://a', 'y'), of('https://a', 'x')]);
    assert.equal(ids.size, 3);
  });

  it('is the same one however the address of its server is spelled', () => {
    const spellings = ['https://h', 'https://h/', 'https://h:443', 'https://H:443/'];
    const ids = spellings.map(
      (server) => kubernetesTarget({ ...connection, server }, { namespace: 'x', restricted: false }).id,
    );
    assert.equal(new Set(ids).size, 1);
  });

  it('has an id that is safe as a folder name, whatever a server answers', () => {
    const target = kubernetesTarget(connection, {
      namespace: 'x',
      uid: { of: 'namespace', value: '../../etc' },
      restricted: false,
    });
    assert.match(target.id, /^kubernetes-at-[0-9a-f]{32}$/);
  });

  it('is asked for without creating anything', async () => {
    const target = await withApiServer({}, async (server) => {
      const driver = testDriver(server);
      const found = await driver.target(never);
      assert.deepEqual(
        server.faults.requests.map(({ verb }) => verb),
        ['get', 'get'],
      );
      await driver.close();
      return found;
    });
    assert.equal(target.label, 'test/default');
  });

  it('is known by its root certificate where the namespace may not be read, else by server and namespace', async () => {
    const byCa = await targetOn((faults) => faults.forbid({ resource: 'namespaces' }));
    assert.match(byCa.id, /^kubernetes-ca-/);
    const byName = await targetOn((faults) => {
      faults.forbid({ resource: 'namespaces' });
      faults.forbid({ resource: 'configmaps' });
    });
    assert.match(byName.id, /^kubernetes-at-/);
    assert.equal(byName.uid, undefined);
  });

  it('is refused where the namespace is absent, with what to do', async () => {
    const refused = targetOn(() => undefined, { namespace: 'nowhere' });
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof CnabError && error.code === 'unavailable');
      assert.match(error.suggestions.join('\n'), /--create-namespace/);
      return true;
    });
  });

  it('stopped while it is looked for is an interrupt, not a bug', async () => {
    await withApiServer({}, async (server) => {
      const driver = testDriver(server);
      const signal = AbortSignal.abort({ kind: 'signal', signal: 'SIGTERM' });
      await assert.rejects(
        driver.target(signal),
        (error) => error instanceof CnabError && error.code === 'interrupted' && error.message.includes('SIGTERM'),
      );
      await driver.close();
    });
  });

  it('is not waited for longer than half a minute where a server takes the call and never answers', async () => {
    const clock = fastClock(100);
    await withApiServer({}, async (server) => {
      server.faults.hold({ resource: 'namespaces' });
      const driver = testDriver(server, { clock });
      const began = clock.now();
      await assert.rejects(driver.target(never), { code: 'unavailable', message: /cannot read namespace default/ });
      assert.ok(clock.now() - began < 45_000, `${clock.now() - began} ms`);
      await driver.close();
    });
  });

  for (const namespace of ['a/../b', '', 'Payments', '-x', 'x'.repeat(64), 'kube system']) {
    it(`is not asked of a server for a name that no namespace can have: ${JSON.stringify(namespace)}`, async () => {
      await assert.rejects(
        targetOn(() => {}, { namespace }),
        { code: 'invalid', message: /cannot be the name of/ },
      );
    });
  }
});
