import assert from 'node:assert/strict';
import { apiPath, querySuffix } from '../../../src/driver/kubernetes/api-path.js';

describe('apiPath', () => {
  it('encodes every segment and refuses one that would lead elsewhere', () => {
    assert.equal(apiPath('/api/v1', 'namespaces', 'a/b?c', 'pods'), '/api/v1/namespaces/a%2Fb%3Fc/pods');
    for (const segment of ['', '.', '..']) assert.throws(() => apiPath('/api/v1', 'namespaces', segment), RangeError);
  });

  it('leaves out only what is undefined from a query', () => {
    assert.equal(querySuffix({ a: 0, b: undefined, c: false, d: 'x=1&y' }), '?a=0&c=false&d=x%3D1%26y');
    assert.equal(querySuffix({}), '');
  });
});
