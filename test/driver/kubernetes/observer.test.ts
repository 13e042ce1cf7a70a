import assert from 'node:assert/strict';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { Observer } from '../../../src/driver/kubernetes/observer.js';
import { RunView } from '../../../src/driver/kubernetes/run-view.js';
import { systemClock } from '../../../src/driver/clock.js';
import { httpPeer, json, type Answer, type HttpPeer } from '../../helpers/http-peer.js';
import { JOB_UID, runPod, running } from '../../helpers/run-pod.js';

const podList = (resourceVersion: string, ...items: object[]): Answer => json({ metadata: { resourceVersion }, items });

/** Calls `act` when the view has changed so that `holds`. */
function once(view: RunView, holds: () => boolean, act: () => void): void {
  const forget = view.onChange(() => {
    if (!holds()) return;
    forget();
    act();
  });
}

describe('the observer of a run', () => {
  let peer: HttpPeer;
  let observer: Observer;
  let api: KubernetesApi;

  afterEach(async () => {
    await observer.stop();
    api.close();
    await peer.close();
  });

  it('a list that was taken before the pod was made, and answered after the watch told of it, takes nothing back', async () => {
    const view = new RunView();
    view.bind(JOB_UID);
    const pod = runPod({ resourceVersion: '9', sidecar: running, invocation: running });
    const added = `${JSON.stringify({ type: 'ADDED', object: pod })}\n`;
    let tell = (): void => undefined;
    let lists = 0;
    const answer: Answer = (request, response, body) => {
      if (request.url?.includes('watch=1')) {
        response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
        tell = () => void response.write(added);
        return;
      }
      lists++;
      if (lists === 2) {
        // The poll's: its state is the one before the pod.
        once(
          view,
          () => view.pod !== undefined,
          () => podList('8')(request, response, body),
        );
        return tell();
      }
      return lists === 1 ? podList('5')(request, response, body) : podList('10', pod)(request, response, body);
    };
    peer = await httpPeer(answer);
    api = new KubernetesApi(plainConnection({ server: peer.url }), { clock: systemClock, random: () => 0 });
    const onTrouble = (sentence: string): void => assert.fail(sentence);
    observer = new Observer({ api, namespace: 'default', runId: 'run', job: 'run', view, onTrouble });
    let changes = 0;
    const answered = new Promise<void>((resolve) => view.onChange(() => ++changes === 3 && resolve()));
    await observer.start(new AbortController().signal);
    await answered;
    assert.deepEqual([lists, view.pod?.metadata?.uid, view.podGone], [2, 'pod-1', false]);
  });
});
