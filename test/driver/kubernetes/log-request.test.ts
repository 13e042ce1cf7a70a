import assert from 'node:assert/strict';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { isAbort } from '../../../src/driver/kubernetes/kubernetes-error.js';
import { readLog } from '../../../src/driver/kubernetes/log-reader.js';
import { cutAfter, httpPeer, refusal, reset, text } from '../../helpers/http-peer.js';
import type { Answer } from '../../helpers/http-peer.js';
import { ManualClock } from '../../helpers/manual-clock.js';

const source = { namespace: 'x', pod: 'p', container: 'invocation' };
const PATH = 'GET /api/v1/namespaces/x/pods/p/log?container=invocation';

describe('readLog', () => {
  const open: { close: () => unknown }[] = [];
  afterEach(async () => {
    for (const thing of open.splice(0).reverse()) await thing.close();
  });

  async function read(answers: Answer | readonly Answer[], more: object = {}) {
    const peer = await httpPeer(answers);
    const api = new KubernetesApi(plainConnection({ server: peer.url }), {
      clock: new ManualClock(20_000),
      random: () => 0,
    });
    open.push(peer, api);
    let out = '';
    const onBytes = (chunk: Uint8Array): void => void (out += Buffer.from(chunk).toString('latin1'));
    await readLog(api, source, { signal: new AbortController().signal, onBytes, ...more });
    return { out, peer };
  }

  it('reads the file as it is, from the start again after trouble', async () => {
    const { out, peer } = await read([reset, cutAfter('one\nt'), text('one\ntwo')]);
    assert.equal(out, 'one\ntone\ntwo');
    assert.equal(peer.seen[2], PATH);
  });

  it('asks for the container before the last restart', async () => {
    assert.equal((await read(text('x'), { previous: true })).peer.seen[0], `${PATH}&previous=true`);
  });

  it('rejects with the server’s sentence, with what its consumer throws, and when it is stopped', async () => {
    await assert.rejects(
      read(refusal(404, 'NotFound', 'pods "p" not found')),
      /cannot read the log of container invocation of pod p in namespace x: pods "p" not found/,
    );
    await assert.rejects(
      read(text('x'), { onBytes: () => Promise.reject(new Error('disk full')) }),
      /^Error: disk full$/,
    );
    const stop = AbortSignal.abort({ kind: 'timeout' });
    await assert.rejects(read(text('x'), { signal: stop }), isAbort);
  });
});
