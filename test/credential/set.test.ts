import assert from 'node:assert/strict';
import { parseSet, type SetKind } from '../../src/credential/set.js';
import { CnabError } from '../../src/errors.js';

async function refusal(text: string, kind: SetKind = 'credential'): Promise<CnabError> {
  try {
    await parseSet(Buffer.from(text), kind, 's.yaml');
  } catch (error) {
    assert.ok(error instanceof CnabError, String(error));
    assert.equal(error.code, 'invalid');
    return error;
  }
  throw new Error('it was accepted');
}

describe('a credential set', () => {
  it('has a name and one source for each credential, keys in any case', async () => {
    const text = `
schemaVersion: 1.0.1
schemaType: CredentialSet
name: prod
created: 2020-01-20T06:00:00-06:00
labels: {a: b}
credentials:
  - name: a
    source: {value: "007"}
  - name: b
    source: {ENV: TOKEN}
  - {name: c, source: {Path: $HOME/.kube/config}, extra: 1}
  - name: d
    source:
      Command: vault read x
`;
    assert.deepEqual(await parseSet(Buffer.from(text), 'credential', 's.yaml'), {
      name: 'prod',
      entries: [
        { name: 'a', source: { kind: 'value', value: '007' }, where: 's.yaml:8' },
        { name: 'b', source: { kind: 'env', variable: 'TOKEN' }, where: 's.yaml:10' },
        { name: 'c', source: { kind: 'path', path: '$HOME/.kube/config' }, where: 's.yaml:12' },
        { name: 'd', source: { kind: 'command', command: 'vault read x' }, where: 's.yaml:13' },
      ],
    });
  });

  it('may be JSON, and empty', async () => {
    const set = await parseSet(
      Buffer.from('{"credentials":[{"name":"a","source":{"env":"A"}}]}'),
      'credential',
      's.json',
    );
    assert.deepEqual(set, { entries: [{ name: 'a', source: { kind: 'env', variable: 'A' }, where: 's.json:1' }] });
    assert.deepEqual(await parseSet(Buffer.from('credentials:'), 'credential', 's'), { entries: [] });
    assert.deepEqual(await parseSet(Buffer.from('credentials: []'), 'credential', 's'), { entries: [] });
  });

  it('lists every problem at once with its line, and no value', async () => {
    const error = await refusal(`
credentials:
  - name: two
    source: {env: A, value: hunter2}
  - name: none
  - name: empty
    source: {}
  - source: {env: A}
  - name: porter
    source: {secret: hunter2}
  - name: odd
    source: {vault: hunter2}
  - name: number
    source: {value: 0123}
  - name: blank
    source: {env: ""}
  - name: list
    source: {command: [hunter2]}
  - hunter2
  - name: ok
    source: {env: A}
  - name: ok
    source: {env: B}
`);
    assert.equal(error.message, 'the credential set s.yaml is not valid:');
    assert.deepEqual(error.details, [
      's.yaml:3: credential "two": it has several sources (env, value): keep one',
      's.yaml:5: credential "none": it has no "source" with one of value, env, path, command',
      's.yaml:6: credential "empty": its source is empty: give it one of value, env, path, command',
      's.yaml:8: entry 4 has no "name"',
      's.yaml:9: credential "porter": a "secret" source needs a secret store plugin of Porter, which cnab does not have: use env, path or command',
      's.yaml:11: credential "odd": its source "vault" is not known: use one of value, env, path, command',
      's.yaml:13: credential "number": its value is not text: put it in quotes',
      's.yaml:15: credential "blank": its env is not text',
      's.yaml:17: credential "list": its command is not text',
      's.yaml: entry 10 has no "name"',
      's.yaml:22: credential "ok" is there twice, first at s.yaml:20',
    ]);
  });

  it('is refused when it is something else', async () => {
    for (const text of ['', 'a: 1', '[]', 'text', '{"parameters": 1}']) {
      assert.match((await refusal(text)).message, /^s\.yaml is no credential set: it has no "credentials"$/);
    }
    assert.match((await refusal('credentials: {a: {env: A}}')).message, /"credentials" is not a list/);
    const error = await refusal('name: x\nparameters:\n- name: a\n  source: {value: 1}\n');
    assert.deepEqual(error.suggestions, ['it is a parameter set: name it with --params']);
  });
});

describe('a parameter set', () => {
  it('may hold values of any type', async () => {
    const text = 'name: p\nparameters:\n- {name: a, source: {value: 1}}\n- {name: b, source: {value: {c: [null]}}}\n';
    const { entries } = await parseSet(Buffer.from(text), 'parameter', 's.yaml');
    assert.deepEqual(
      entries.map(({ source }) => source),
      [
        { kind: 'value', value: 1 },
        { kind: 'value', value: { c: [null] } },
      ],
    );
  });

  it('names itself in problems', async () => {
    const { details } = await refusal('parameters:\n- {name: a, source: {secret: x}}\n', 'parameter');
    assert.match(details[0] ?? '', /^s\.yaml:2: parameter "a": a "secret" source/);
  });
});
