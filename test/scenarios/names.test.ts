import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { assertNotRun, mustNotRun, runOnApiServer } from '../helpers/kubernetes-run.js';

const ODD = [
  'new\nline',
  '-n',
  ' blanks on both sides ',
  '"quotes" and \'quotes\'',
  '$(touch /tmp/never) `id` ${HOME}',
  'a'.repeat(255),
  'READ.me',
  'read.ME',
  'CON',
  'trailing.',
  'é e\u0301 \u{1f600}',
  '*',
  '\\0',
  '%2e%2e%2fup',
];

describe('names of output files', () => {
  it('scenario 22: arrive whatever they hold, each with its own bytes, and nothing is written outside the staging folder', async () => {
    let staging = '';
    let beside: string[] = [];
    const run = await runOnApiServer({
      operation: {
        outputs: ODD.map((name, index) => ({
          name: `output ${index}`,
          path: `/cnab/app/outputs/${name}`,
          sensitive: false,
        })),
      },
      onStaging: (folder) => {
        staging = folder;
        beside = readdirSync(dirname(folder));
      },
      invocation: ({ write }) => {
        for (const [index, name] of ODD.entries()) write(`/cnab/app/outputs/${name}`, `content ${index}`);
        return 0;
      },
    });
    assert.deepEqual(run.outputs, Object.fromEntries(ODD.map((_, index) => [`output ${index}`, `content ${index}`])));
    for (const { file } of run.result.outputs) assert.equal(dirname(file), staging);
    for (const { file } of run.result.outputs)
      assert.match(file.slice(staging.length), /^\/\d+$/, 'a number, no name from a pod');
    assert.ok(!readdirSync(dirname(staging)).some((name) => ODD.includes(name)), beside.join());
    assert.ok(!readdirSync('/tmp').includes('never'));
  });

  for (const path of [
    '/cnab/app/outputs/../up',
    '/etc/passwd',
    '/cnab/app/outputs',
    '/cnab/app/outputs/a//b',
    'relative',
    '/cnab/app/outputs/nul\0',
  ]) {
    it(`scenario 22: ${JSON.stringify(path)} is refused by name before anything runs`, async () => {
      const run = await runOnApiServer({
        operation: { outputs: [{ name: 'out', path, sensitive: false }] },
        invocation: mustNotRun,
      }).catch((error: unknown) => error as Error);
      if (run instanceof Error) return void assert.match(run.message, /out/);
      assertNotRun(run, /out/, 'invalid');
    });
  }
});
