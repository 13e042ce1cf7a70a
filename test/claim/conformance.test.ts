import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { lastOutputs, statusOf } from '../../src/claim/status.js';
import { removeFolder, storeIn, TARGET, tempFolder } from './samples.js';

const FIXTURES = resolve('../shared/conformance');

describe('claims of other tools', () => {
  let home: string;

  before(function () {
    if (existsSync(FIXTURES)) return;
    this.test?.parent?.tests.forEach((test) => (test.title += ` (skipped: no ${FIXTURES})`));
    this.skip();
  });
  beforeEach(async () => {
    home = await tempFolder();
  });
  afterEach(() => removeFolder(home));

  /** Lays fixtures down as a store would hold them, by their own ids. */
  async function lay(claimFile: string, resultFile?: string): Promise<string> {
    const { id, installation } = await json(claimFile);
    const target = join(home, 'targets/sandbox');
    await mkdir(join(target, 'claims', String(installation)), { recursive: true });
    await copyFile(join(FIXTURES, claimFile), join(target, 'claims', String(installation), `${String(id)}.json`));
    if (resultFile !== undefined) {
      const result = await json(resultFile);
      await mkdir(join(target, 'results', String(id)), { recursive: true });
      await copyFile(join(FIXTURES, resultFile), join(target, 'results', String(id), `${String(result['id'])}.json`));
    }
    return String(installation);
  }

  async function json(file: string): Promise<Record<string, unknown>> {
    return JSON.parse(await readFile(join(FIXTURES, file), 'utf8')) as Record<string, unknown>;
  }

  const claims = () => storeIn(home).on(TARGET);

  it('reads the examples of the specification, unchanged', async () => {
    const name = await lay('cnab-spec/examples/400.01-claim.json', 'cnab-spec/examples/400.01-claim-result.json');
    const installation = await claims().read(name);
    const record = installation?.records[0];
    assert.deepEqual(record?.claim, await json('cnab-spec/examples/400.01-claim.json'));
    assert.deepEqual(record?.results, [await json('cnab-spec/examples/400.01-claim-result.json')]);
    assert.equal(record && statusOf(record), 'succeeded');
    const outputs = installation === undefined ? [] : lastOutputs(installation);
    assert.deepEqual(
      outputs.map((output) => [output.name, output.sensitive]),
      [
        ['clientCert', true],
        ['hostName', false],
        ['port', false],
      ],
    );
    assert.equal(await claims().output(record?.results[0]?.id ?? '', 'port'), undefined);
  });

  it("reads cnab-go's claim with all fields, whose custom is an array", async () => {
    const name = await lay('cnab-go/claim/claim.allfields.json', 'cnab-go/claim/result.json');
    const list = await claims().list();
    assert.deepEqual(list.damaged, []);
    assert.deepEqual(list.installations[0]?.records[0]?.claim, await json('cnab-go/claim/claim.allfields.json'));
    const outputs = (await claims().read(name))?.records[0]?.results[0]?.outputs;
    assert.equal(outputs?.['output1']?.generatedByBundle, 'true');
  });

  it("shows cnab-go's default claim, whose bundle is empty, and reports it as damaged", async () => {
    const name = await lay('cnab-go/claim/claim.default.json');
    const { installations, damaged } = await claims().list();
    assert.deepEqual(
      installations.map((installation) => installation.name),
      [name],
    );
    assert.equal(damaged.length, 1);
    assert.match(damaged[0]?.reason ?? '', /bundle has no "name"/);
    const record = (await claims().read(name))?.records[0];
    assert.deepEqual(record?.claim.bundle.invocationImages, []);
    assert.equal(record && statusOf(record), 'unknown');
  });
});
