import assert from 'node:assert/strict';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { LogReader, type LogEnd, type LogReaderOptions } from '../../../src/driver/kubernetes/log-reader.js';
import { httpPeer, refusal, reset, stall, text, cutAfter, type Answer } from '../../helpers/http-peer.js';
import { ManualClock } from '../../helpers/manual-clock.js';

const A = '2026-11-30T23:05:10.000000001Z a\n';
const B = '2026-11-30T23:05:20.000000001Z b\n';
const NO_NODE = refusal(500, 'InternalError', 'dial tcp 10.0.0.4:10250: connect: no route to host');
const DAY_MS = 24 * 3600_000;

interface Trial {
  readonly clock: ManualClock;
  readonly out: () => string;
  /** The pod's status says that the container has terminated. */
  readonly finish: () => void;
  readonly run: (answers: readonly Answer[], more?: Partial<LogReaderOptions>) => Promise<LogEnd>;
}

async function trial(act: (trial: Trial) => Promise<void>): Promise<void> {
  const clock = new ManualClock(20_000);
  const stop = new AbortController();
  const ended = new AbortController();
  const open: { close: () => unknown }[] = [];
  let out = '';
  try {
    await act({
      clock,
      out: () => out,
      finish: () => ended.abort(),
      run: async (answers, more) => {
        const peer = await httpPeer(answers);
        const api = new KubernetesApi(plainConnection({ server: peer.url }), { clock, random: () => 0 });
        open.push(peer, api);
        const log = new LogReader(api, {
          source: { namespace: 'x', pod: 'p', container: 'invocation' },
          signal: stop.signal,
          ended: ended.signal,
          resume: 'exact',
          onBytes: (chunk) => void (out += Buffer.from(chunk).toString('latin1')),
          ...more,
        });
        return log.run();
      },
    });
  } finally {
    stop.abort();
    for (const thing of open.reverse()) await thing.close();
  }
}

/** Gives `answer` after `act`. */
function after(act: () => void, answer: Answer): Answer {
  return (...exchange) => {
    act();
    answer(...exchange);
  };
}

describe('a log that cannot be reached', () => {
  for (const [what, tries] of [
    ['is made up for', []],
    ['is no outage, nor is the sleep before tries that fail', [reset, reset, NO_NODE]],
  ] as const) {
    it(`a connection that breaks after any silence ${what}`, () =>
      trial(async ({ clock, out, finish, run }) => {
        let cut = (): void => undefined;
        const silent: Answer = (request, response, body) => {
          stall(A)(request, response, body);
          cut = () => void request.socket.resetAndDestroy();
        };
        const end = run([silent, ...tries, after(finish, text(A + B)), text(B)]);
        while (out() === '') await new Promise(setImmediate);
        await clock.elapse(DAY_MS);
        cut();
        const { kind, gaps, error } = await end;
        assert.deepEqual([kind, gaps, out(), error], ['ended', 0, 'a\nb\n', undefined]);
      }));
  }

  it('is waited for as long as its container runs, and then for its patience', () =>
    trial(async ({ clock, out, finish, run }) => {
      const hours = Array<Answer>(400).fill(NO_NODE);
      const end = await run([cutAfter(A), ...hours, after(finish, text(A + B)), text(B)]);
      assert.deepEqual([end.kind, out()], ['ended', 'a\nb\n']);
      assert.ok(slept(clock) > 3600_000, `${slept(clock)} ms`);
    }));

  for (const [what, answer, first] of [
    ['its container has ended', NO_NODE, true],
    ['it is refused', refusal(403, 'Forbidden', 'pods "p" is forbidden'), false],
  ] as const) {
    it(`is given up where ${what} and each try has failed for longer than its patience, though it was connected for long before`, () =>
      trial(async ({ clock, finish, run }) => {
        const end = await run([first ? after(finish, cutAfter(A)) : cutAfter(A), answer], { patienceMs: 40_000 });
        assert.equal(end.kind, 'failed');
        assert.match(end.error?.message ?? '', /no route to host|is forbidden/);
        assert.ok(slept(clock) >= 40_000 && slept(clock) < 60_000, `${slept(clock)} ms`);
      }));
  }
});

/** In pauses; time-outs are longer. */
function slept({ asked }: ManualClock): number {
  return asked.filter((ms) => ms <= 10_000).reduce((sum, ms) => sum + ms, 0);
}
