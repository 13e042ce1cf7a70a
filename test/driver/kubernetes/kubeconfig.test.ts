import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CnabError } from '../../../src/errors.js';
import { selectContext } from '../../../src/driver/kubernetes/kubeconfig.js';
import type { KubeconfigSource, SelectedContext } from '../../../src/driver/kubernetes/kubeconfig.js';

const PROD = `
current-context: prod
clusters: [{name: c, cluster: {server: 'https://prod', certificate-authority: ca.crt}}]
users: [{name: u, user: {client-certificate: ../u.crt, client-key: /abs/u.key, tokenFile: t, token: s3cret}}]
contexts:
- {name: prod, context: {cluster: c, user: u, namespace: pay}}
- {name: anonymous, context: {cluster: c}}
`;
const STAGING = `
current-context: staging
clusters: [{name: c, cluster: {server: 'https://staging'}}, {name: s, cluster: {server: 'https://staging'}}]
users: [{name: u, user: {token: other}}]
contexts:
- {name: staging, context: {cluster: s, user: u}}
- {name: dangling, context: {cluster: nowhere, user: u}}
- {name: nobody, context: {cluster: s, user: ghost}}
- {name: clusterless, context: {user: u}}
`;

describe('selectContext', () => {
  let folder: string;
  let prod: string;
  let staging: string;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cnab-kubeconfig-'));
    mkdirSync(path.join(folder, 'a'));
    prod = path.join(folder, 'a', 'prod');
    staging = path.join(folder, 'staging');
    writeFileSync(prod, PROD);
    writeFileSync(staging, STAGING);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  function select(source: Partial<KubeconfigSource>): Promise<SelectedContext | undefined> {
    return selectContext({ env: {}, home: folder, ...source });
  }

  function write(name: string, text: string): string {
    const file = path.join(folder, name);
    writeFileSync(file, text);
    return file;
  }

  async function refused(source: Partial<KubeconfigSource>, message: RegExp, code = 'invalid'): Promise<void> {
    await assert.rejects(select(source), (error: unknown) => {
      assert.ok(error instanceof CnabError, String(error));
      assert.equal(error.code, code);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /s3cret/);
      return true;
    });
  }

  it('gives the current context with its paths made absolute by the folder of their file', async () => {
    const selected = await select({ kubeconfig: prod });
    assert.deepEqual(selected, {
      file: prod,
      name: 'prod',
      namespace: 'pay',
      clusterName: 'c',
      cluster: { server: 'https://prod', 'certificate-authority': path.join(folder, 'a', 'ca.crt') },
      userName: 'u',
      user: {
        'client-certificate': path.join(folder, 'u.crt'),
        'client-key': '/abs/u.key',
        tokenFile: path.join(folder, 'a', 't'),
        token: 's3cret',
      },
      userFolder: path.join(folder, 'a'),
    });
  });

  it('takes a file relative to the working directory', async () => {
    assert.equal((await select({ kubeconfig: 'a/prod', cwd: folder }))?.file, prod);
  });

  it('merges a list: missing files are skipped, the first that has an entry wins', async () => {
    const list = ['/nonexistent', prod, '', staging].join(path.delimiter);
    const first = await select({ env: { KUBECONFIG: list } });
    assert.equal(first?.name, 'prod');
    const other = await select({ env: { KUBECONFIG: list }, context: 'staging' });
    assert.equal(other?.cluster['server'], 'https://staging');
    assert.equal(other?.user['token'], 's3cret');
    assert.equal(other?.userFolder, path.join(folder, 'a'));
  });

  it('prefers --kubeconfig to $KUBECONFIG to ~/.kube/config, and gives nothing where there is none', async () => {
    const home = path.join(folder, 'home');
    assert.equal(await select({ home }), undefined);
    assert.equal(await select({ home, env: { KUBECONFIG: '' } }), undefined);
    mkdirSync(path.join(home, '.kube'), { recursive: true });
    writeFileSync(path.join(home, '.kube', 'config'), STAGING);
    assert.equal((await select({ home }))?.name, 'staging');
    assert.equal((await select({ home, env: { KUBECONFIG: prod } }))?.name, 'prod');
    assert.equal((await select({ home, env: { KUBECONFIG: prod }, kubeconfig: staging }))?.name, 'staging');
  });

  it('does not go elsewhere when the files that were named do not exist', async () => {
    await refused(
      { kubeconfig: '/none' },
      /^no cluster: --kubeconfig names \/none, which does not exist$/,
      'unavailable',
    );
    await refused({ env: { KUBECONFIG: '~/x:/y' } }, /^no cluster: \$KUBECONFIG names ~\/x, \/y, which/, 'unavailable');
  });

  it('names the contexts that exist when one does not, or none is chosen', async () => {
    await refused(
      { kubeconfig: prod, context: 'prdo' },
      /the kubeconfig \S+prod has no context "prdo"; it has: anonymous, prod$/,
    );
    const unset = write('unset', STAGING.replace('current-context: staging', 'current-context: ""'));
    await refused(
      { kubeconfig: unset },
      /has no current-context \(contexts: clusterless, dangling, nobody, staging\)$/,
    );
    await refused({ kubeconfig: write('none', 'kind: Config') }, /has no current-context \(contexts: none\)$/);
  });

  it('says which context names a cluster or user that is not there', async () => {
    await refused(
      { kubeconfig: staging, context: 'dangling' },
      /context "dangling" in \S+ names the cluster "nowhere", which/,
    );
    await refused({ kubeconfig: staging, context: 'nobody' }, /context "nobody" in \S+ names the user "ghost", which/);
    await refused({ kubeconfig: staging, context: 'clusterless' }, /context "clusterless" in \S+ names no cluster$/);
  });

  it('lets a context have no user', async () => {
    const selected = await select({ kubeconfig: prod, context: 'anonymous' });
    assert.equal(selected?.userName, undefined);
    assert.deepEqual(selected?.user, {});
  });

  it('says that a file is empty, is no kubeconfig, or where its YAML breaks, and shows nothing of it', async () => {
    for (const text of ['', '\n# nothing\n', 'null\n'])
      await refused({ kubeconfig: write('empty', text) }, /the kubeconfig \S+empty is empty$/);
    await refused(
      { kubeconfig: write('broken', 'users:\n- name: u\n  user: {token: s3cret\n') },
      /broken:\d+:\d+ is not a kubeconfig: /,
    );
    await refused({ kubeconfig: write('list', '- s3cret') }, /list is not a kubeconfig: it is no YAML mapping/);
    await refused({ kubeconfig: write('pod', 'kind: Pod') }, /its kind is "Pod", not "Config"/);
    await refused({ kubeconfig: write('types', 'users: s3cret') }, /types: users is not a list/);
    await refused({ kubeconfig: write('nameless', 'users: [{user: {token: s3cret}}]') }, /users\[0\] has no name/);
    await refused(
      { kubeconfig: write('flat', 'users: [{name: u, user: s3cret}]') },
      /users\[0\]\.user is not a mapping/,
    );
  });

  it('says why a file cannot be read', async function () {
    await refused({ kubeconfig: folder }, /cannot read the kubeconfig \S+: it is a folder/);
    const closed = write('closed', PROD);
    chmodSync(closed, 0);
    try {
      await select({ kubeconfig: closed });
      this.skip(); // root reads anything
    } catch (error) {
      if (!(error instanceof CnabError)) throw error;
      assert.match(error.message, /permission denied/);
    }
  });
});
