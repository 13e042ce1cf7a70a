import assert from 'node:assert/strict';
import { CnabError } from '../../src/errors.js';
import { POST_START_COMMAND, sidecarEnvironment, sidecarScript } from '../../src/frame/sidecar.js';

const LIMITS = { maxOutputBytes: 1000, maxTotalBytes: 2000 };
const WAY = { via: 'exec', maxLogBytes: 1500, inLog: 'not-sensitive' } as const;
const environment = (wanted: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    sidecarEnvironment({
      runId: 'R',
      wanted: wanted.map((path) => ({ path, sensitive: false })),
      limits: LIMITS,
      way: WAY,
      inputs: [],
    }).map(({ name, value }) => [name, value]),
  );

/** What a kubelet makes of `value:` and `command:` (k8s.io/kubernetes third_party/forked/golang/expansion). */
function expand(text: string): string {
  return text.replace(/\$(\$|\([^)]*\)|\(|[^$(]|$)/gs, (whole, next: string) =>
    next === '$' ? '$' : /^\(.*\)$/s.test(next) ? 'EXPANDED' : whole,
  );
}

describe('The settings of the sidecar', () => {
  it('carry each wanted path relative to the outputs, and all the numbers', () => {
    const settings = {
      runId: 'R',
      wanted: [
        { path: '/cnab/app/outputs/a/b', sensitive: false },
        { path: 'c', sensitive: true },
      ],
      limits: LIMITS,
      way: WAY,
      inputs: [
        { mode: 0o444, parts: 1 },
        { mode: 0o600, parts: 3 },
      ],
    };
    const { CNAB_SEND, ...others } = Object.fromEntries(
      sidecarEnvironment(settings).map(({ name, value }) => [name, value]),
    );
    assert.match(CNAB_SEND ?? '', /^find_output\(\)/m);
    assert.deepEqual(others, {
      CNAB_RUN: 'R',
      CNAB_VIA: 'exec',
      CNAB_MAX_LOG: '1500',
      CNAB_UNLOGGED: '1',
      CNAB_MAX_FILE: '1000',
      CNAB_MAX_TOTAL: '2000',
      CNAB_INPUTS: '0444:1 0600:3',
      CNAB_WANTED: '2',
      CNAB_WANTED_0: 'a/b',
      CNAB_WANTED_1: 'c',
    });
  });

  it('refuse a path that is not a clean one below the outputs', () => {
    for (const path of [
      '',
      '/etc/passwd',
      '/cnab/app/outputs',
      '/cnab/app/outputs/',
      '/cnab/app/outputs-x/a',
      '../x',
      'a/../b',
      'a//b',
      './a',
      'a/',
      'a\0b',
      '\ud800',
    ]) {
      assert.throws(
        () => environment([path]),
        (error) => error instanceof CnabError && error.code === 'invalid',
        JSON.stringify(path),
      );
    }
    assert.throws(
      () => sidecarEnvironment({ runId: 'a b', wanted: [], limits: LIMITS, way: WAY, inputs: [] }),
      RangeError,
    );
  });

  it('come through Kubernetes unchanged when every $ is doubled, the script among them', () => {
    const texts = [
      sidecarScript(),
      ...POST_START_COMMAND,
      ...Object.values(environment(['$(HOME)', '$$', 'a$', '$(', '$x'])),
    ];
    for (const text of texts) assert.equal(expand(text.replaceAll('$', '$$$$')), text);
    assert.ok(!texts.slice(0, -1).some((text) => text.includes('$$') && text !== '$$'));
  });

  it('leave the script small enough for one argument, and in ASCII', () => {
    assert.ok(sidecarScript().length < 32_768);
    assert.match(sidecarScript(), /^[\x20-\x7e\n]*$/);
  });
});
