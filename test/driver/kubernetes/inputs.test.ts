import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  inputSizeProblems,
  MAX_FILES_BYTES,
  planInputs,
  recordParts,
  SECRET_BYTES,
} from '../../../src/driver/kubernetes/inputs.js';
import { inputPathProblems, outputPathProblems } from '../../../src/driver/kubernetes/input-paths.js';
import { buildSecret } from '../../../src/driver/kubernetes/secret.js';
import { inputFile, operation } from '../../helpers/operation.js';

const bytes = (length: number): Uint8Array => Buffer.alloc(length, 'x');

describe('inputs in Secrets', () => {
  it('small inputs share the first Secret, under keys of ours', () => {
    const plan = planInputs(operation({ files: [inputFile('/a b', 'A'), inputFile('/ü', '')] }), 'job');
    assert.deepEqual(
      plan.secrets.map((secret) => [secret.name, [...secret.entries.keys()]]),
      [['job', ['r0.1', 'e0', 'f0.0', 'f1.0']]],
    );
    assert.deepEqual(plan.environment, [{ name: 'CNAB_ACTION', secret: 'job', key: 'e0' }]);
  });

  it('the record comes first, in parts that say how many they are, and nothing else names their keys', () => {
    const record = bytes(2 * SECRET_BYTES + 1);
    const plan = planInputs(operation({ record }), 'job');
    const keys = plan.secrets.flatMap(({ entries }) => [...entries.keys()]);
    assert.deepEqual(keys.slice(0, 3), ['r0.3', 'r1.3', 'r2.3']);
    assert.equal(recordParts(['e0', 'r1.3']), 3);
    assert.equal(recordParts(['e0', 'f0.0', 'r0.0', 'r1']), undefined);
    const named = [...plan.environment, ...plan.files.flatMap(({ parts }) => parts)].map(({ key }) => key);
    assert.ok(!named.some((key) => key.startsWith('r')));
  });

  it('all bytes arrive in order, whatever their sizes, and no Secret is over its limit', () => {
    const sizes = fc.array(fc.nat(2 * SECRET_BYTES + 10), { maxLength: 5 });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const files = lengths.map((length, index) => inputFile(`/f${index}`, bytes(length).fill(97 + index)));
        const plan = planInputs(operation({ files }), 'job');
        const secrets = new Map(plan.secrets.map((secret) => [secret.name, secret.entries]));
        for (const entries of secrets.values()) {
          const total = [...entries.values()].reduce((sum, part) => sum + part.byteLength, 0);
          assert.ok(total <= SECRET_BYTES);
        }
        for (const { file, parts } of plan.files) {
          const joined = Buffer.concat(
            parts.map(({ secret, key }) => secrets.get(secret)?.get(key) ?? Buffer.from('lost')),
          );
          assert.ok(joined.equals(file.content));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('more files than a node should hold in memory are refused, and the largest is named', () => {
    assert.deepEqual(inputSizeProblems([inputFile('/a', bytes(MAX_FILES_BYTES))]), []);
    const problems = inputSizeProblems([inputFile('/small', 'x'), inputFile('/large', bytes(MAX_FILES_BYTES))]);
    assert.match(problems.join(), /parameter "\/large"/);
  });

  it('a Secret is immutable and belongs to the Job', () => {
    const secret = buildSecret(
      { name: 's', entries: new Map([['e0', Buffer.from('ü')]]) },
      { name: 'job', uid: 'u' },
      { a: 'b' },
    );
    assert.equal(secret.immutable, true);
    assert.deepEqual(secret.data, { e0: 'w7w=' });
    assert.deepEqual(secret.metadata?.ownerReferences, [
      { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'u', controller: false, blockOwnerDeletion: false },
    ]);
  });
});

describe('paths of inputs and outputs', () => {
  it('takes any clean absolute path, odd ones too, as a kubelet does', () => {
    const paths = ['/cnab/bundle.json', '/root/.kube/config', '/a:b', '/n\nl', '/ü', '/$(X)', '/dev/foo', '/sp ace'];
    assert.deepEqual(
      inputPathProblems(
        paths.map((path) => inputFile(path, '')),
        false,
      ),
      [],
    );
  });

  for (const path of [
    'relative',
    '/',
    '/a/',
    '/a//b',
    '/a/../b',
    '/./a',
    '/a\0b',
    '/a\ud800',
    '/etc',
    '/cnab/app',
    '/proc/x',
    '/sys/x',
    '/cnab/app/run',
    '/cnab/app/outputs',
    '/cnab/app/outputs/x',
    `/${'x'.repeat(256)}`,
    `/${'x/'.repeat(2100)}x`,
  ]) {
    it(`refuses ${JSON.stringify(path).slice(0, 40)} and names the parameter`, () => {
      const problems = inputPathProblems([inputFile(path, '')], false);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.ok(problems[0]?.startsWith('parameter "'));
    });
  }

  it('refuses the same path twice and a path below another file', () => {
    assert.equal(inputPathProblems([inputFile('/a', ''), inputFile('/a', '')], false).length, 1);
    assert.match(inputPathProblems([inputFile('/a/b/c', ''), inputFile('/a', '')], false).join(), /is below "\/a"/);
  });

  it('keeps the place of the token free where there is a service account', () => {
    const file = inputFile('/var/run/secrets/kubernetes.io/serviceaccount/token', '');
    assert.deepEqual(inputPathProblems([file], false), []);
    assert.equal(inputPathProblems([file], true).length, 1);
  });

  it('refuses outputs that are not clean and strictly below their folder', () => {
    const of = (path: string) => outputPathProblems([{ name: 'o', path, sensitive: false }]).length;
    assert.deepEqual(['/cnab/app/outputs/a/\n"-', '/cnab/app/outputs/ü'].map(of), [0, 0]);
    assert.deepEqual(
      ['/cnab/app/outputs', '/cnab/app/outputs-x/a', '/cnab/app/outputs/../../x', '/cnab/app/outputs/a\ud800'].map(of),
      [1, 1, 1, 1],
    );
  });
});
