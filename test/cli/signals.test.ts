import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { stopSignals, type StopOptions } from '../../src/cli/signals.js';
import { ManualClock } from '../helpers/manual-clock.js';

describe('stop signals', () => {
  function listen(options: Partial<StopOptions> & { readonly fromTerminal: boolean }) {
    const source = new EventEmitter();
    const said: string[] = [];
    const left: string[] = [];
    const stop = stopSignals(source, {
      onStop: (line, _, signal) => said.push(`${signal}: ${line}`),
      onLeave: (line) => left.push(line),
      ...options,
    });
    return { source, said, stop, left };
  }
  const resume = (): string => 'cnab resume app';

  it('stop once, whatever follows', () => {
    const { source, said, stop, left } = listen({ fromTerminal: false, resume });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT', 'SIGHUP']) source.emit(signal);
    assert.deepEqual(stop.signal.reason, { kind: 'signal', signal: 'SIGINT' });
    assert.deepEqual([said, left], [['SIGINT: interrupted: stopping the run'], []]);
  });

  it('leave at the second Ctrl-C of a terminal, and only there, and say how to take the run up', () => {
    const { source, said, left } = listen({ fromTerminal: true, resume });
    source.emit('SIGINT');
    assert.deepEqual(left, []);
    source.emit('SIGINT');
    assert.deepEqual(said, ['SIGINT: interrupted: stopping the run (Ctrl-C again leaves at once)']);
    assert.deepEqual(left, ['left at once; the run is not settled yet: cnab resume app']);
  });

  it('say what a bundle has to end by itself, where one may be running', async () => {
    const clock = new ManualClock(0);
    const grace = (): number => 45_000;
    const ended = 'stopping the run; the bundle has 45s to end';
    const interrupted = listen({ fromTerminal: true, resume, grace });
    interrupted.source.emit('SIGINT');
    assert.deepEqual(interrupted.said, [`SIGINT: interrupted: ${ended} (Ctrl-C again leaves at once)`]);
    const terminated = listen({ fromTerminal: false, resume, grace });
    terminated.source.emit('SIGTERM');
    assert.deepEqual(terminated.said, [`SIGTERM: terminated: ${ended}`]);
    const timed = listen({ fromTerminal: false, resume, grace });
    timed.stop.startTimer(60_000, clock);
    await clock.elapse(60_000);
    await turn();
    assert.deepEqual(timed.said, [`undefined: the time-out of 1m00s is over: ${ended}`]);
  });

  it('do not speak of a run where none has begun', () => {
    const { source, said, left } = listen({ fromTerminal: true, resume: () => undefined });
    source.emit('SIGHUP');
    source.emit('SIGINT');
    source.emit('SIGINT');
    assert.deepEqual([said, left], [['SIGHUP: the terminal is gone'], ['left at once']]);
  });

  it('leave the run to itself when the terminal is gone', () => {
    const { source, said, stop } = listen({ fromTerminal: true, resume });
    source.emit('SIGHUP');
    assert.deepEqual(stop.signal.reason, { kind: 'leave' });
    assert.deepEqual(said, ['SIGHUP: the terminal is gone; the run goes on: cnab resume app']);
  });

  for (const signal of ['SIGINT', 'SIGTERM']) {
    it(`end no run at ${signal} where the command only looks on`, () => {
      const { source, said, stop } = listen({ fromTerminal: false, asks: 'leave', resume });
      source.emit(signal);
      assert.deepEqual(stop.signal.reason, { kind: 'leave' });
      assert.match(said.join(), /^SIG\w+: (?:interrupted|terminated); the run goes on: cnab resume app$/);
    });
  }

  it('stop when the time-out is over, and not when its timer has been ended', async () => {
    const clock = new ManualClock(0);
    const { stop, said } = listen({ fromTerminal: false });
    stop.startTimer(30_000, clock)();
    stop.startTimer(0, clock);
    await turn();
    assert.equal(clock.tryElapse(30_000), false);
    stop.startTimer(60_000, clock);
    await clock.elapse(60_000);
    await turn();
    assert.deepEqual(stop.signal.reason, { kind: 'timeout' });
    assert.deepEqual(said, ['undefined: the time-out of 1m00s is over: stopping the run']);
  });

  it('only leave when the time is over for which somebody looks on', async () => {
    const clock = new ManualClock(0);
    const { stop, said } = listen({ fromTerminal: false, asks: 'leave' });
    stop.startTimer(60_000, clock);
    await clock.elapse(60_000);
    await turn();
    assert.deepEqual(stop.signal.reason, { kind: 'leave' });
    assert.deepEqual(said, ['undefined: the time to wait of 1m00s is over; the run goes on']);
  });
});
