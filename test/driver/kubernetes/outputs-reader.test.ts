import assert from 'node:assert/strict';
import { Assembler } from '../../../src/frame/assemble.js';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { readOutputs, type OutputsEnd } from '../../../src/driver/kubernetes/outputs-reader.js';
import { encodeFrames } from '../../helpers/encode-frames.js';
import { cutAfter, httpPeer, refusal, stall, text, type Answer } from '../../helpers/http-peer.js';
import { ManualClock } from '../../helpers/manual-clock.js';
import { withFolder } from '../../helpers/staging.js';

const RUN = 'run';
const lines = encodeFrames([Buffer.from('hello')], { runId: RUN });
const logOf = (count: number): string =>
  lines
    .slice(0, count)
    .map((line, index) => `2026-11-30T23:05:${10 + index}.000000001Z ${line}\n`)
    .join('');
const WHOLE = logOf(lines.length);
/** Without the data. */
const BEGUN = logOf(lines.length - 2);

type Signals = { readonly stop: AbortController; readonly ended: AbortController };

/** Why not all has come. The answers are made with what ends the reading. */
function reading(answers: (signals: Signals) => readonly Answer[]): Promise<OutputsEnd> {
  return withFolder(async (staging) => {
    const signals = { stop: new AbortController(), ended: new AbortController() };
    const peer = await httpPeer(answers(signals));
    const clock = new ManualClock(20_000);
    const api = new KubernetesApi(plainConnection({ server: peer.url }), { clock, random: () => 0 });
    const limits = { maxOutputBytes: 1000, maxTotalBytes: 1000 };
    const assembler = await Assembler.open({ runId: RUN, wanted: 1, staging, limits });
    try {
      return await readOutputs({
        api,
        assembler,
        source: { namespace: 'x', pod: 'p', container: 'outputs' },
        ...{ onHeard: () => undefined, onProgress: () => undefined, onSilence: () => undefined },
        ...{ signal: signals.stop.signal, ended: signals.ended.signal },
      });
    } finally {
      await assembler.finish();
      api.close();
      await peer.close();
    }
  });
}

/** Gives `answer`, and `then` follows. */
const then =
  (answer: Answer, next: () => void): Answer =>
  (...exchange) => {
    answer(...exchange);
    setTimeout(next, 20);
  };

describe('the reason for outputs that the log does not bring', () => {
  it('is what cut the log again and again, where it is no longer waited for', async () => {
    for (const last of [stall(BEGUN), cutAfter(BEGUN)]) {
      for (const isOver of [false, true]) {
        const why = await reading(({ stop, ended }) => [
          ...Array<Answer>(3).fill(cutAfter(BEGUN)),
          then(last, () => {
            if (isOver) ended.abort();
            stop.abort();
          }),
        ]);
        assert.match(why.reason ?? '', /^cannot read the log of container outputs of pod p .* broke/);
      }
    }
  });

  it('is none, where nothing was in the way but that nobody waits any longer', async () => {
    assert.deepEqual(await reading(({ stop }) => [then(stall(BEGUN), () => stop.abort())]), {});
  });

  it('is that of the last reading, with whether there may be more for another one', async () => {
    for (const [answers, words, isUnread] of [
      [[text(BEGUN)], /^the log of the outputs sidecar ended too early$/, undefined],
      [[refusal(404, 'NotFound', 'pods "p" not found')], /pods "p" not found/, false],
      [[refusal(400, 'BadRequest', 'container outputs is not valid for pod p')], /is not valid/, false],
      [[refusal(500, 'InternalError', 'dial tcp: no route to host')], /no route to host/, true],
      [[refusal(403, 'Forbidden', 'pods "p" is forbidden')], /is forbidden/, true],
    ] as const) {
      const end = await reading(({ ended }) => [then(stall(BEGUN), () => ended.abort()), ...answers]);
      assert.match(end.reason ?? '', words);
      assert.equal(end.isUnread, isUnread, end.reason);
    }
  });

  it('is none, where all has come', async () => {
    assert.deepEqual(await reading(() => [cutAfter(BEGUN), text(WHOLE)]), {});
  });
});
