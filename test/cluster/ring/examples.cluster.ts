import assert from 'node:assert/strict';
import { clusterCases } from '../cases.js';
import { ROOT } from '../../helpers/run-cnab.js';

const bundleFolder = (name: string): string => `${ROOT}/bundles/${name}`;

clusterCases('the example bundles on a cluster', (one) => {
  it('hello installs, upgrades with what was chosen before, helps and uninstalls, and its outputs arrive', async () => {
    const installed = await one().install(bundleFolder('hello'), ['-p', 'greeting=Hi "there" \\ ü']);
    assert.equal(installed.code, 0, installed.stderr);
    assert.equal((await one().output('message')).toString(), 'Hi "there" \\ ü, world!');
    await one().nothingIsLeft();
  });
});
