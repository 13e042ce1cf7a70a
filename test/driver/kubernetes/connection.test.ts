import assert from 'node:assert/strict';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';

describe('plainConnection', () => {
  it('refuses an address that is not on this machine, and TLS', () => {
    for (const server of ['http://10.0.0.1:80', 'https://127.0.0.1:6443', 'http://127.0.0.1.example.com']) {
      assert.throws(() => plainConnection({ server }), /is not a plain HTTP address of this machine/);
    }
    assert.equal(plainConnection({ server: 'http://[::1]:1/' }).server, 'http://[::1]:1');
  });
});
