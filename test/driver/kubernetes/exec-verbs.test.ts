import assert from 'node:assert/strict';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { letSidecarEnd, signalSidecar } from '../../../src/driver/kubernetes/exec-verbs.js';
import { ExecPod } from '../../helpers/exec-pod.js';
import { execServer, refuses, sends, type ExecAnswer } from '../../helpers/exec-server.js';
import { ManualClock } from '../../helpers/manual-clock.js';

const SOURCE = { namespace: 'apps', pod: 'p', container: 'outputs' };
const never = new AbortController().signal;

describe('a word to the sidecar', () => {
  async function tell(answers: ExecAnswer | readonly ExecAnswer[], say: typeof letSidecarEnd): Promise<string[]> {
    const server = await execServer(answers);
    const api = new KubernetesApi(plainConnection({ server: server.url }), { clock: new ManualClock(4000) });
    try {
      await say(api, SOURCE, never);
      return server.asked;
    } finally {
      api.close();
      await server.close();
    }
  }

  it('lets it end, or signals it; a pod that is gone needs neither', async () => {
    const pod = new ExecPod([]);
    assert.deepEqual(await tell(pod.answer, letSidecarEnd), ['done']);
    assert.equal(pod.isDone, true);
    assert.deepEqual(await tell(sends(''), signalSidecar), ['term']);
    assert.deepEqual(await tell(refuses(404, 'NotFound', 'pods "p" not found'), letSidecarEnd), ['done']);
  });

  it('is said again where the way broke, and rejects where it was refused', async () => {
    const cut: ExecAnswer = (call) => void call.socket.resetAndDestroy();
    assert.deepEqual(await tell([cut, cut, sends('')], letSidecarEnd), ['done', 'done', 'done']);
    await assert.rejects(
      tell(refuses(403, 'Forbidden', 'no'), letSidecarEnd),
      /cannot let the sidecar of pod p end: no/,
    );
    const fails: ExecAnswer = async (call) => (await call.accept()).exit(127);
    await assert.rejects(tell(fails, signalSidecar), /cannot signal the sidecar of pod p: .* ended with exit code 127/);
  });
});
