import assert from 'node:assert/strict';
import { encodeFileName } from '../../src/claim/file-name.js';
import { kubernetesTargetId, sandboxTarget } from '../../src/claim/target-id.js';

describe('the id of a target', () => {
  const uid = '0e3f2b1c-8a54-4d6e-9f01-23456789abcd';

  it('is the UID of the namespace where that is known', () => {
    assert.equal(kubernetesTargetId({ uid }), `kubernetes-${uid}`);
    assert.equal(kubernetesTargetId({ uid: uid.toUpperCase() }), `kubernetes-${uid}`);
  });

  it('is made of server and namespace otherwise, in whatever way the server is spelled', () => {
    const id = kubernetesTargetId({ server: 'https://prod:443/', namespace: 'a' });
    assert.equal(kubernetesTargetId({ server: 'https://PROD', namespace: 'a' }), id);
    assert.notEqual(kubernetesTargetId({ server: 'https://prod:6443', namespace: 'a' }), id);
    assert.notEqual(kubernetesTargetId({ server: 'https://prod/k8s/b', namespace: 'a' }), id);
    assert.notEqual(kubernetesTargetId({ server: 'https://prod', namespace: 'b' }), id);
  });

  it('is a safe folder name, whatever a server answers', () => {
    const ids = [
      kubernetesTargetId({ uid: '../../etc' }),
      kubernetesTargetId({ uid: '' }),
      kubernetesTargetId({ server: 'not a url\n', namespace: '..' }),
      kubernetesTargetId({ server: 'https://x', namespace: 'é/'.repeat(200) }),
      sandboxTarget().id,
    ];
    for (const id of ids) assert.equal(encodeFileName(id), id);
    assert.equal(new Set(ids).size, ids.length);
  });
});
