import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { clusterCases } from '../cases.js';
import { needsOwnNode } from '../node.js';
import { shortToken } from '../token.js';
import { makeAccount, readmeRules, writeKubeconfig } from '../user.js';

const OUT = '/cnab/app/outputs';
/** Seconds: longer than a command takes to create its Job on a machine that has other things to do. */
const LIFETIME = 15;
/** The API server remembers a good token for ten seconds. */
const SCRIPT = `echo started; sleep ${LIFETIME + 15}; echo out > ${OUT}/out`;

clusterCases('a token that expires while the bundle runs', (one) => {
  it('is renewed by the credential plugin of the kubeconfig, and nothing is lost', async function () {
    const node = needsOwnNode(this);
    const account = await makeAccount(one(), readmeRules(one().namespace));
    // Each call hands out the next token; the files are signed when they are needed.
    const fresh = (): string => one().file('token', shortToken(node, one(), account, LIFETIME));
    fresh();
    const timer = setInterval(fresh, 1000);
    one().defer(() => clearInterval(timer));
    const plugin = one().file(
      'plugin',
      `#!/bin/sh
echo called >> ${one().home}/calls
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' "$(cat ${one().home}/token)"
`,
    );
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'sh',
      args: [plugin],
      interactiveMode: 'Never',
    };
    const kubeconfig = writeKubeconfig(one(), 'plugin', { exec });
    const { code, stderr } = await one().install(one().bundle({ script: SCRIPT, outputs: ['out'] }), [], {
      kubeconfig,
    });
    assert.equal(code, 0, stderr);
    assert.equal((await one().output('out')).toString(), 'out\n');
    assert.ok(readFileSync(`${one().home}/calls`, 'utf8').split('\n').length > 2, 'the plugin was asked again');
    await one().nothingIsLeft();
  });

  it('and cannot be renewed: never a success by guess, and what is left in the cluster is told', async function () {
    const node = needsOwnNode(this);
    const account = await makeAccount(one(), readmeRules(one().namespace));
    const kubeconfig = writeKubeconfig(one(), 'short', { token: shortToken(node, one(), account, LIFETIME) });
    const { code, stderr, document } = await one().install(one().bundle({ script: SCRIPT, outputs: ['out'] }), [], {
      kubeconfig,
    });
    // The streams that are open stay so; whether all that is needed comes through them is the cluster's affair.
    assert.ok(code === 0 || code === 5 || code === 8, `exit ${code}\n${stderr}`);
    if (code === 0) assert.equal((await one().output('out')).toString(), 'out\n');
    assert.match([stderr, ...(document.warnings ?? [])].join('\n'), /is left in namespace|kubectl/);
  });
});
