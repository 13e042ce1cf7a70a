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
    keptFrom: 'revision 1',
    outputText: () => Promise.resolve(undefined),
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

describe('resolveParameters', () => {
  it('lets a default satisfy `required`, and an unset optional one without a default stay absent', async () => {
    const { values, from } = await resolve();
    assert.deepEqual(values, { port: 80 });
    assert.equal(from['name'], 'not set');
  });

  it('takes the default, then a source output, then what was kept, then what is given, the last one of these', async () => {
    const outputText = () => Promise.resolve('from-output');
    assert.equal((await resolve({ outputText })).values['host'], 'from-output');
    const kept = { overrides: { host: 'kept' }, outputText };
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
      installed: { region: 'eu' },
      overrides: { region: 'eu' },
      given: [text('region', 'us')],
    });
    assert.equal(values['region'], 'eu');
    assert.equal(overrides['region'], 'eu');
    assert.match(warnings.join(), /"region" is fixed/);
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
      given: [text('prt', '1'), text('port', 'eighty'), text('name', 'ok')],
    });
    assert.match(shown, /no parameter "prt"/);
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

  it('treats names like __proto__ and constructor as names', async () => {
    const shown = await problemsOf({ given: [text('__proto__', '1'), text('constructor', '1')] });
    assert.match(shown, /no parameter "__proto__"/);
    assert.match(shown, /no parameter "constructor"/);
  });
});
