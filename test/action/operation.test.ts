import assert from 'node:assert/strict';
import { buildOperation } from '../../src/action/operation.js';
import type { Bundle } from '../../src/bundle/bundle.js';
import type { Claim } from '../../src/claim/claim.js';

const BUNDLE: Bundle = {
  schemaVersion: '1.2.0',
  name: 'b',
  version: '1.2.3',
  invocationImages: [{ image: 'example/b:1' }],
  images: { web: { image: 'example/web:1' } },
  definitions: { any: {}, secret: { type: 'string', writeOnly: true } },
  parameters: {
    text: { definition: 'any', destination: { env: 'TEXT' } },
    object: { definition: 'any', destination: { env: 'OBJECT', path: '/etc/b/object.json' } },
    unset: { definition: 'any', destination: { env: 'UNSET', path: 'relative/unset' } },
    forged: { definition: 'any', destination: { env: 'CNAB_ACTION' } },
  },
  credentials: { token: { env: 'TOKEN', path: '/root/token' } },
  outputs: {
    all: { definition: 'any', path: '/cnab/app/outputs/all' },
    key: { definition: 'secret', path: '/cnab/app/outputs/tls/key', applyTo: ['install'] },
    other: { definition: 'any', path: '/cnab/app/outputs/other', applyTo: ['upgrade'] },
  },
};

const CLAIM: Claim = {
  schemaVersion: '1.0.0',
  id: '01ARZ3NDEKTSV4RRFFQ69G0001',
  installation: 'my app',
  revision: '01ARZ3NDEKTSV4RRFFQ69G0000',
  created: '2026-03-01T12:00:00.000Z',
  action: 'install',
  bundle: BUNDLE,
  parameters: { text: '"quoted"' },
};

const operation = buildOperation({
  claim: { ...CLAIM, custom: { 'dev.cnab-cli': { bundleFolder: '/home/alice/secret-project' } } },
  bundleSource: Buffer.from('{"as": "read",  "big": 12345678901234567890}'),
  image: { image: 'example/b:1' },
  parameters: [
    { name: 'text', value: '"quoted"', from: '-p', sensitive: false },
    { name: 'object', value: { b: 1, a: '<&>' }, from: '-p', sensitive: false },
    { name: 'unset', from: 'not set', sensitive: false },
    { name: 'forged', value: 'uninstall', from: '-p', sensitive: false },
  ],
  credentials: new Map([['token', Buffer.from([0xff, 0x00])]]),
});

const environment = Object.fromEntries(operation.environment.map(({ name, value }) => [name, Buffer.from(value)]));
const files = Object.fromEntries(operation.files.map(({ path, content }) => [path, Buffer.from(content)]));

describe('buildOperation', () => {
  it('gives exactly the environment of the spec, strings raw, everything else as JSON with sorted keys', () => {
    assert.deepEqual(
      Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value.toString('latin1')])),
      {
        TEXT: '"quoted"',
        OBJECT: '{"a":"<&>","b":1}',
        UNSET: '',
        TOKEN: '\xff\x00',
        CNAB_INSTALLATION_NAME: 'my app',
        CNAB_BUNDLE_NAME: 'b',
        CNAB_BUNDLE_VERSION: '1.2.3',
        CNAB_ACTION: 'install',
        CNAB_REVISION: '01ARZ3NDEKTSV4RRFFQ69G0000',
        CNAB_CLAIMS_VERSION: 'CNAB-Claims-1.0.0',
      },
    );
  });

  it('lets no parameter forge a variable of the runtime', () => {
    assert.equal(operation.environment.filter(({ name }) => name === 'CNAB_ACTION').length, 1);
  });

  it('gives bundle.json as it was read, byte for byte', () => {
    assert.equal(files['/cnab/bundle.json']?.toString(), '{"as": "read",  "big": 12345678901234567890}');
  });

  it('gives the claim of this very operation, with no credential and nothing of the machine in it', () => {
    assert.deepEqual(JSON.parse(files['/cnab/claim.json']?.toString() ?? ''), JSON.parse(JSON.stringify(CLAIM)));
  });

  it('writes a value to both of its destinations, an unset one as an empty file, a relative path from the root', () => {
    assert.equal(files['/etc/b/object.json']?.toString(), '{"a":"<&>","b":1}');
    assert.equal(files['/relative/unset']?.length, 0);
    assert.deepEqual(files['/root/token'], Buffer.from([0xff, 0x00]));
  });

  it('opens what everybody may read and keeps private what came from parameters and credentials', () => {
    const access = Object.fromEntries(operation.files.map((file) => [file.path, file.access]));
    assert.deepEqual(access, {
      '/cnab/bundle.json': 'public',
      '/cnab/claim.json': 'public',
      '/cnab/app/image-map.json': 'public',
      '/etc/b/object.json': 'private',
      '/relative/unset': 'private',
      '/root/token': 'private',
    });
  });

  it('wants the outputs that apply to the action, and knows which are sensitive', () => {
    assert.deepEqual(operation.outputs, [
      { name: 'all', path: '/cnab/app/outputs/all', sensitive: false },
      { name: 'key', path: '/cnab/app/outputs/tls/key', sensitive: true },
    ]);
  });

  it('gives a relocation mapping only where there is one', () => {
    assert.equal(files['/cnab/app/relocation-mapping.json'], undefined);
    const mapped = buildOperation({
      claim: CLAIM,
      bundleSource: Buffer.from('{}'),
      image: { image: 'mirror/b:1' },
      parameters: [],
      credentials: new Map(),
      relocation: { 'example/b:1': 'mirror/b:1' },
    });
    const file = mapped.files.find(({ path }) => path === '/cnab/app/relocation-mapping.json');
    assert.equal(Buffer.from(file?.content ?? []).toString(), '{"example/b:1":"mirror/b:1"}');
  });
});
