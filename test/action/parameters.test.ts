import assert from 'node:assert/strict';
import { resolveParameters, type ParameterSources } from '../../src/action/parameters.js';
import type { Bundle, Json } from '../../src/bundle/bundle.js';
import { CnabError } from '../../src/errors.js';
import { text } from './stage.js';

const BUNDLE: Bundle = {
  schemaVersion: '1.2.0',
  name: 'b',
  version: '1.0.0',
  invocationImages: [{ image: 'example/b:1' }],
  definitions: {
    port: { type: 'integer', minimum: 1, default: 80 },
    name: { type: 'string' },
    region: { type: 'string', readOnly: true },
    secret: { type: 'string', writeOnly: true, minLength: 8 },
  },
  parameters: {
    port: { definition: 'port', destination: { env: 'PORT' }, required: true },
    name: { definition: 'name', destination: { env: 'NAME' } },
    region: { definition: 'region', destination: { env: 'REGION' } },
    late: { definition: 'name', destination: { env: 'LATE' }, applyTo: ['upgrade'] },
    host: { definition: 'name', destination: { env: 'HOST' } },
  },
  custom: {
    'io.cnab.parameter-sources': { host: { priority: ['output'], sources: { output: { name: 'endpoint' } } } },
  },
};

async function resolve(changes: Partial<ParameterSources> = {}): Promise<{
  values: Record<string, Json>;
  from: Record<string, string>;
  overrides: Record<string, Json>;
  kept: readonly string[];
  warnings: readonly string[];
}> {
  const resolved = await resolveParameters({
    bundle: BUNDLE,
    action: 'install',
    given: [],
    overrides: {},
    keptSecrets: [],
    keptFrom: 'revision 1',
    installed: new Map(),
    outputOf: () => Promise.resolve(undefined),
    ...changes,
  });
  return {
    values: Object.fromEntries(
      resolved.applied.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
    ),
    from: Object.fromEntries(resolved.applied.map(({ name, from }) => [name, from])),
    overrides: { ...resolved.overrides },
    kept: resolved.kept,
    warnings: resolved.warnings,
  };
}

async function problemsOf(changes: Partial<ParameterSources>): Promise<string> {
  const thrown: unknown = await resolve(changes).then(
    () => assert.fail('no problem was found'),
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof CnabError);
  return [thrown.message, ...thrown.details, ...thrown.suggestions].join('\n');
}

const output =
  (bytes: string | Uint8Array, sensitive = false): ParameterSources['outputOf'] =>
  () =>
    Promise.resolve({ bytes: Buffer.from(bytes as string), sensitive });

/** BUNDLE, with one parameter of the type whose default is an output. */
function fedBy(definition: Json, more: Partial<Bundle> = {}): Bundle {
  return {
    ...BUNDLE,
    definitions: { fed: definition as Record<string, Json> },
    parameters: { host: { definition: 'fed', destination: { env: 'HOST' }, required: true } },
    ...more,
  };
}

describe('resolveParameters', () => {
  it('lets a default satisfy `required`, and an unset optional one without a default stay absent', async () => {
    const { values, from } = await resolve();
    assert.deepEqual(values, { port: 80 });
    assert.equal(from['name'], 'not set');
  });

  it('takes the default, then a source output, then what was kept, then what is given, the last one of these', async () => {
    const outputOf = output('from-output');
    assert.equal((await resolve({ outputOf })).values['host'], 'from-output');
    const kept = { overrides: { host: 'kept' }, outputOf };
    assert.equal((await resolve(kept)).values['host'], 'kept');
    const given = [text('host', 'set', 'params.yaml'), text('host', 'flag')];
    const { values, from, overrides } = await resolve({ ...kept, given });
    assert.equal(values['host'], 'flag');
    assert.equal(from['host'], '-p');
    assert.deepEqual(overrides, { host: 'flag' });
  });

  it('never carries a default, so that a new bundle version can change it', async () => {
    assert.deepEqual((await resolve()).overrides, {});
  });

  it('says from which revision a value is kept', async () => {
    const { from, kept } = await resolve({ overrides: { name: 'x' } });
    assert.equal(from['name'], 'revision 1');
    assert.deepEqual(kept, ['name']);
  });

  it('keeps a value that does not apply to the action for the action that it applies to', async () => {
    const install = await resolve({ given: [text('late', 'later')] });
    assert.equal(install.values['late'], undefined);
    assert.match(install.warnings.join(), /"late" does not apply to install/);
    assert.equal((await resolve({ action: 'upgrade', overrides: install.overrides })).values['late'], 'later');
  });

  it('keeps the installed value of a readOnly parameter and says that the new one is ignored', async () => {
    const { values, warnings, overrides } = await resolve({
      action: 'upgrade',
      installed: new Map([['region', { value: 'eu', sensitive: false }]]),
      overrides: { region: 'eu' },
      given: [text('region', 'us')],
    });
    assert.equal(values['region'], 'eu');
    assert.equal(overrides['region'], 'eu');
    assert.match(warnings.join(), /"region" is fixed/);
  });

  it('lets a readOnly parameter that no run has had be set', async () => {
    const { values, warnings } = await resolve({ action: 'upgrade', given: [text('region', 'us')] });
    assert.equal(values['region'], 'us');
    assert.deepEqual(warnings, []);
  });

  it('leaves a readOnly parameter unset that was not set', async () => {
    const installed = new Map([['region', { value: undefined, sensitive: false }]]);
    const { values, warnings } = await resolve({ action: 'upgrade', installed, given: [text('region', 'us')] });
    assert.equal(values['region'], undefined);
    assert.match(warnings.join(), /"region" is fixed/);
  });

  it('reads a source output like a file: without the line end of `echo`, as base64 where the definition says so', async () => {
    assert.equal((await resolve({ bundle: fedBy({ type: 'integer' }), outputOf: output('42\n') })).values['host'], 42);
    const base64 = fedBy({ type: 'string', contentEncoding: 'base64' });
    assert.equal((await resolve({ bundle: base64, outputOf: output(Buffer.of(255, 0)) })).values['host'], '/wA=');
  });

  it('refuses a source output that is binary or does not fit, once, rather than pass on something else', async () => {
    const binary = await problemsOf({ bundle: fedBy({ type: 'string' }), outputOf: output(Buffer.of(255, 0)) });
    assert.match(binary, /parameter "host" \(output "endpoint"\): must be UTF-8 text/);
    const odd = await problemsOf({ bundle: fedBy({ type: 'integer', default: 1 }), outputOf: output('many') });
    assert.match(odd, /parameter "host" \(output "endpoint"\): must be an integer, but is "many"$/);
    assert.ok(!odd.includes('has no value'), odd);
  });

  it('keeps the secret of a sensitive source output, whatever the definition of the parameter says', async () => {
    const bundle = fedBy({ type: 'string', minLength: 20 });
    const shown = await problemsOf({ bundle, outputOf: output('hunter2', true) });
    assert.ok(!shown.includes('hunter2'), shown);
    assert.ok(
      !(await problemsOf({ bundle: fedBy({ type: 'integer' }), outputOf: output('hunter2', true) })).includes(
        'hunter2',
      ),
    );
    const { applied } = await resolveParameters({
      ...{ bundle: fedBy({}), action: 'install', given: [], overrides: {}, keptSecrets: [] },
      ...{ keptFrom: '', installed: new Map() },
      outputOf: output('hunter2', true),
    });
    assert.deepEqual(applied, [{ name: 'host', value: 'hunter2', from: 'output "endpoint"', sensitive: true }]);
  });

  it('takes an extension that is not of its form for one that names nothing', async () => {
    for (const extension of [
      null,
      'x',
      5,
      [],
      { host: null },
      { host: { priority: 'output' } },
      { host: { priority: ['output'] } },
    ] as Json[]) {
      const bundle = fedBy({ default: 'd' }, { custom: { 'io.cnab.parameter-sources': extension } });
      assert.equal((await resolve({ bundle, outputOf: output('x') })).values['host'], 'd', JSON.stringify(extension));
    }
  });

  it('passes over what a set has for other bundles', async () => {
    assert.deepEqual((await resolve({ given: [{ ...text('other', 'x'), shared: true }] })).overrides, {});
  });

  it('gives flags that a shell takes as words, whatever a parameter is called', async () => {
    const evil: Bundle = {
      ...fedBy({}),
      parameters: { '$(id) x': { definition: 'fed', destination: { env: 'X' }, required: true } },
    };
    assert.match(await problemsOf({ bundle: evil }), /Add: -p '\$\(id\) x=VALUE'$/);
  });

  it('drops kept values that the bundle no longer has, in one warning that names them', async () => {
    const { warnings, overrides } = await resolve({ overrides: { gone: 1, old: 2 } });
    assert.deepEqual(warnings, [
      'the bundle no longer has these parameters, their kept values are dropped: gone, old.',
    ]);
    assert.deepEqual(overrides, {});
  });

  it('lists every problem at once, each once, and what is missing with flags to paste', async () => {
    const needs: Bundle = {
      ...BUNDLE,
      parameters: {
        ...BUNDLE.parameters,
        must: { definition: 'name', destination: { env: 'MUST' }, required: true, description: 'who it is for' },
      },
    };
    const shown = await problemsOf({
      bundle: needs,
      given: [text('zzz', '1'), text('port', 'eighty'), text('name', 'ok')],
    });
    assert.match(shown, /no parameter "zzz"; it has port, name[^.\n]*\.$/m);
    assert.match(await problemsOf({ given: [text('prot', '1')] }), /no parameter "prot": did you mean "port"\?$/m);
    assert.match(shown, /parameter "port" \(-p\)/);
    assert.equal(shown.match(/"port"/g)?.length, 1);
    assert.match(shown, /parameter "must" is required and has no value: who it is for/);
    assert.match(shown, /-p must=VALUE/);
  });

  it('never shows the value of a sensitive parameter that does not fit', async () => {
    const secret: Bundle = { ...BUNDLE, parameters: { key: { definition: 'secret', destination: { env: 'KEY' } } } };
    const shown = await problemsOf({ bundle: secret, given: [text('key', 'hunter2')] });
    assert.ok(!shown.includes('hunter2'), shown);
  });

  it('shows nothing of a kept secret that no longer fits, though the bundle calls it a secret no more', async () => {
    const changes = { overrides: { port: 'hunter2' }, keptSecrets: ['port'] };
    const shown = await problemsOf(changes);
    assert.match(shown, /parameter "port" \(revision 1\)/);
    assert.ok(!shown.includes('hunter2'), shown);
  });

  it('treats names like __proto__ and constructor as names', async () => {
    const shown = await problemsOf({ given: [text('__proto__', '1'), text('constructor', '1')] });
    assert.match(shown, /no parameter "__proto__"/);
    assert.match(shown, /no parameter "constructor"/);
  });
});
