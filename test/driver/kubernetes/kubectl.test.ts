import assert from 'node:assert/strict';
import { checkWith, kubectl } from '../../../src/driver/kubernetes/kubectl.js';

describe('a kubectl command to paste', () => {
  it('goes the way that the connection went', () => {
    assert.equal(kubectl('get pods', {}), 'kubectl get pods');
    assert.equal(kubectl('get pods', { context: 'a b' }), "kubectl get pods --context 'a b'");
    const both = { context: 'prod', kubeconfig: "/it's" };
    assert.equal(kubectl('get pods', both), String.raw`kubectl get pods --kubeconfig '/it'\''s' --context prod`);
    const list = { context: 'prod', kubeconfig: '/a:/b c' };
    assert.equal(kubectl('get pods', list), "KUBECONFIG='/a:/b c' kubectl get pods --context prod");
  });

  it('is none where kubectl has no way', () => {
    assert.equal(kubectl('get pods', { context: 'sandbox', isPrivate: true }), undefined);
    assert.deepEqual(checkWith({ isPrivate: true }, 'default', 'get pods'), []);
  });

  it('asks for each right', () => {
    assert.deepEqual(checkWith({ context: 'c' }, 'n', 'get pods', 'list jobs'), [
      'Check with: kubectl auth can-i get pods -n n --context c && kubectl auth can-i list jobs -n n --context c',
    ]);
  });
});
