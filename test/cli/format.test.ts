import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CORE_SCHEMA, load } from 'js-yaml';
import { durationText, parseDuration } from '../../src/cli/durations.js';
import { jsonText, yamlText } from '../../src/cli/format.js';
import { parseSize, sizeText } from '../../src/cli/sizes.js';
import { facts, table } from '../../src/cli/table.js';
import { ageText, timeText } from '../../src/cli/times.js';
import type { Json } from '../../src/bundle/bundle.js';

describe('documents', () => {
  const json = fc.jsonValue().map((value) => value as Json);

  it('in JSON have the value they were made of, and nothing that a terminal or a CI system obeys', () => {
    fc.assert(
      fc.property(json, fc.constantFrom('##[error]', '##vso[x]', '\u009b2J', '\u2028', 'ü'), (value, hostile) => {
        const text = jsonText({ value, hostile });
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify({ value, hostile })));
        assert.doesNotMatch(text, /##\[|##vso\[|[\u007f-\u009f\u2028]/);
      }),
    );
  });

  it('in YAML have the value they were made of', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = yamlText({ value });
        assert.deepEqual(load(text, { schema: CORE_SCHEMA }), JSON.parse(JSON.stringify({ value })), text);
      }),
    );
    const words = {
      a: 'yes',
      b: '1',
      c: 'null',
      d: '',
      e: '- x',
      f: [],
      g: {},
      h: [[1, [2]], { k: [{}] }],
      i: 'line\nline',
      'key: x': 1,
    };
    assert.deepEqual(load(yamlText(words), { schema: CORE_SCHEMA }), words);
  });
});

describe('durations', () => {
  const rows: readonly [string, number][] = [
    ['0', 0],
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['1m.5s', 60_500],
  ];
  for (const [text, ms] of rows) it(`takes ${text}`, () => assert.equal(parseDuration(text, '--timeout'), ms));

  for (const text of ['', ' ', '-1s', '1d', '1h 30m', 's', '1e3s', '90S', '∞']) {
    it(`refuses ${JSON.stringify(text)}`, () =>
      assert.throws(() => parseDuration(text, '--timeout'), { code: 'invalid' }));
  }

  it('gives both readings of a bare number', () => {
    assert.throws(() => parseDuration('90', '--timeout'), {
      message: '--timeout 90 has no unit: write 90s for seconds or 90m for minutes',
    });
  });

  it('refuses what would overflow a timer', () =>
    assert.throws(() => parseDuration('597h', '--timeout'), { code: 'invalid' }));

  it('are written short', () => {
    assert.deepEqual([0, 840, 9999, 12_345, 185_000, 7_260_000].map(durationText), [
      '0.0s',
      '0.8s',
      '9.9s',
      '12s',
      '3m05s',
      '2h01m',
    ]);
  });
});

describe('sizes', () => {
  it('are read in both kinds of units', () => {
    assert.deepEqual(
      ['4096', '64Ki', '64KiB', '1.5MiB', '500M', '500MB', '1GiB', '2 GiB'].map((text) => parseSize(text, '--x')),
      [...[4096, 65_536, 65_536, 1_572_864, 500_000_000, 500_000_000, 1_073_741_824, 2_147_483_648]],
    );
  });

  for (const text of ['', 'GiB', '1TB', '-1', '1e9', '9999999999999GiB']) {
    it(`refuse ${JSON.stringify(text)}`, () => assert.throws(() => parseSize(text, '--x'), { code: 'invalid' }));
  }

  it('are written short', () => {
    assert.deepEqual([0, 1023, 1024, 1536, 123_456, 1024 ** 2, 5 * 1024 ** 3].map(sizeText), [
      '0 B',
      '1023 B',
      '1 KiB',
      '1.5 KiB',
      '121 KiB',
      '1 MiB',
      '5 GiB',
    ]);
  });
});

describe('tables', () => {
  it('line up, and show hostile names as one harmless line', () => {
    assert.equal(
      table(
        ['NAME', 'SIZE'],
        [
          ['a\n\u001b[2Jb', '1'],
          ['ü', '22'],
        ],
      ),
      'NAME         SIZE\na\\n\\x1b[2Jb  1\nü            22',
    );
  });

  it('leave out facts that are not known', () => {
    assert.equal(
      facts([
        ['Name', 'x'],
        ['Message', undefined],
        ['A', 'y'],
      ]),
      'Name:  x\nA:     y',
    );
  });

  it('say how long ago something was', () => {
    const now = Date.parse('2026-03-01T12:00:00Z');
    const times = [
      '2026-03-01T11:59:58.5Z',
      '2026-03-01T11:15:00Z',
      '2026-02-28T12:00:00Z',
      '2027-01-01T00:00:00Z',
      'never',
      undefined,
    ];
    assert.deepEqual(
      times.map((time) => ageText(time, now)),
      ['1s ago', '45m ago', '1d ago', '2027-01-01 00:00:00Z', 'never', ''],
    );
    assert.equal(timeText('2026-03-01T12:00:00.123456789+01:00'), '2026-03-01 11:00:00Z');
  });
});
