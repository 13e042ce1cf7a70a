import assert from 'node:assert/strict';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { ROOT } from '../../helpers/run-cnab.js';
import { clusterCases } from '../cases.js';
import { makeAccount } from '../user.js';

const example = (name: string): string => `${ROOT}/bundles/${name}`;

clusterCases('the example bundles on a cluster', (one) => {
  it('hello: install, upgrade with what was chosen before, help, uninstall, and every output arrives', async () => {
    const installed = await one().install(example('hello'), ['-p', 'greeting=Hi "there" \\ ü $(WHO)']);
    assert.equal(installed.code, 0, installed.stderr);
    assert.match(installed.stderr, /^Hi "there" \\ ü \$\(WHO\), world!$/m, "the bundle's log is shown");
    assert.equal((await one().output('message')).toString(), 'Hi "there" \\ ü $(WHO), world!');

    const upgraded = await one().act(['upgrade', 'app', '-p', 'who=everybody']);
    assert.equal(upgraded.code, 0, upgraded.stderr);
    assert.equal((await one().output('message')).toString(), 'Hi "there" \\ ü $(WHO) again, everybody!');
    const report = JSON.parse((await one().output('report')).toString()) as Record<string, string>;
    assert.deepEqual([report['action'], report['installation'], report['who']], ['upgrade', 'app', 'everybody']);

    const help = await one().act(['invoke', 'app', 'io.cnab.help']);
    assert.equal(help.code, 0, help.stderr);
    assert.match(help.stderr, /install and upgrade greet everybody/);

    const uninstalled = await one().act(['uninstall', 'app']);
    assert.equal(uninstalled.code, 0, uninstalled.stderr);
    assert.equal((await one().output('message')).toString(), 'Goodbye, everybody!');
    await one().nothingIsLeft();
  });

  it('certs: a credential reaches variable and file, binary and sensitive outputs come back', async () => {
    const credential = ['--credential', 'signing-key=env:KEY'];
    const env = { KEY: 'päss $(HOME) "word"\nof two lines' };
    const installed = await one().install(example('certs'), credential, { env });
    assert.equal(installed.code, 0, installed.stderr);
    assert.ok(!(installed.stdout.toString() + installed.stderr).includes('päss'), 'no secret is shown');
    const keystore = await one().output('keystore');
    assert.equal(keystore.length, 4100);
    assert.deepEqual([...keystore.subarray(0, 4)], [0x30, 0x82, 0x10, 0x00]);
    assert.match((await one().output('private-key')).toString(), /^-----BEGIN EXAMPLE PRIVATE KEY-----\n[^-]+-----END/);
    const serial = (await one().output('serial')).toString();

    const renewed = await one().act(['invoke', 'app', 'renew', ...credential], { env });
    assert.equal(renewed.code, 0, renewed.stderr);
    assert.notEqual((await one().output('serial')).toString(), serial);
  });

  it('flaky: what a failing bundle has left is kept, the command ends with 1, and a custom action mends it', async () => {
    const failed = await one().install(example('flaky'));
    assert.equal(failed.code, 1, failed.stderr);
    assert.deepEqual([failed.document.status, failed.document.ran, failed.document.exitCode], ['failed', 'yes', 3]);
    assert.match(failed.told, /ended with exit code 3/);
    const progress = (await one().output('progress')).toString();
    assert.equal(progress, '{"action":"install","stepsDone":2,"steps":3}\n');

    const repaired = await one().act(['invoke', 'app', 'repair']);
    assert.equal(repaired.code, 0, repaired.stderr);
    assert.equal((await one().output('endpoint')).toString(), 'http://app.example.test');
    await one().nothingIsLeft();
  });

  it('a run tool speaks to the API server as its service account, from an image without a shell', async () => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'delete'] }];
    const account = await makeAccount(one(), rules);
    const message = 'x'.repeat(5000) + ' ü';
    const parameters = ['-p', `message=${message}`];
    const operator = `${ROOT}/test/cluster/bundles/operator`;

    const without = await one().install(operator, parameters);
    assert.equal(without.code, 1, without.stderr);
    assert.match(without.stderr, /no service account/);

    const installed = await one().act([
      ...['install', 'app', operator, ...parameters],
      ...['--service-account', account.name, '--force'],
    ]);
    assert.equal(installed.code, 0, installed.stderr);
    const path = `/api/v1/namespaces/${one().namespace}/configmaps/cnab-operator-app`;
    const made = await one().api.get<V1ConfigMap>(path);
    assert.equal((await one().output('uid')).toString(), made.metadata?.uid);
    assert.equal((await one().output('echo')).toString(), message);

    const uninstalled = await one().act(['uninstall', 'app']);
    assert.equal(uninstalled.code, 0, uninstalled.stderr);
    assert.equal((await one().api.request('GET', path)).status, 404);
  });
});
