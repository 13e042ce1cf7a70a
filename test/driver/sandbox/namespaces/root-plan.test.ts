import assert from 'node:assert/strict';
import { StartError, type ContainerMount } from '../../../../src/driver/sandbox/api-server/container-runtime.js';
import type { HostLayout } from '../../../../src/driver/sandbox/namespaces/host-layout.js';
import { planRoot } from '../../../../src/driver/sandbox/namespaces/root-plan.js';

const HOST: HostLayout = {
  folders: ['/usr', '/etc/ssl/certs'],
  links: [{ path: '/bin', to: 'usr/bin' }],
  files: [{ path: '/etc/hosts', content: Buffer.from('127.0.0.1 localhost\n') }],
  hidden: [
    { path: '/proc/kcore', kind: 'file' },
    { path: '/proc/acpi', kind: 'folder' },
  ],
  readOnly: ['/proc/bus'],
  mounts: [
    { point: '/', options: ['rw'] },
    { point: '/home', options: ['rw', 'noexec'] },
  ],
};
const SECURITY = {
  readOnlyRootFilesystem: false,
  addCapabilities: [],
  dropCapabilities: [],
};
const file = (target: string, source = '/pod/f'): ContainerMount => ({ source, kind: 'file', target, readOnly: false });
const folder = (target: string, source = '/pod/d'): ContainerMount => ({
  source,
  kind: 'folder',
  target,
  readOnly: false,
});
const plan = (...mounts: ContainerMount[]) =>
  planRoot('/home/root', { mounts, security: SECURITY, hostname: 'pod' }, HOST);

describe("the plan of a container's root", () => {
  it('shows folders of the machine read-only, without devices and set-uid programs', () => {
    for (const source of HOST.folders) {
      const line = plan().outer.find((mount) => mount.source === source);
      assert.deepEqual(line?.options, ['rbind', 'nosuid', 'nodev', 'ro']);
      assert.equal(line?.target, `/home/root${source}`);
    }
  });

  it('has every mount of the first table without set-uid, and nothing of the machine writable', () => {
    for (const { source, options, type } of plan(file('/x'), folder('/y')).outer) {
      assert.ok(options.includes('nosuid'), source);
      assert.ok(
        type !== 'none' || options.includes('ro') || source === '/home/root' || source.startsWith('/pod/'),
        source,
      );
    }
  });

  it('makes the folders on the way to a mount, whatever the path', () => {
    const { folders, files } = plan(file('/root/.kube/config'), file('/deep/er/and deeper/x'), folder('/data'));
    const made = folders.map(({ path }) => path);
    for (const path of ['/root/.kube', '/deep', '/deep/er', '/deep/er/and deeper', '/data'])
      assert.ok(made.includes(path), path);
    assert.ok(made.indexOf('/deep') < made.indexOf('/deep/er'));
    assert.equal(files.find(({ path }) => path === '/root/.kube/config')?.content, '');
  });

  it('parks what the pod mounts first, and brings it to its place when the machine is out of reach', () => {
    const { outer, inner } = plan(file('/etc/ld.so.preload'));
    assert.equal(
      outer.some(({ target }) => target.endsWith('/etc/ld.so.preload')),
      false,
    );
    assert.equal(outer.at(-1)?.target, '/home/root/.sandbox/mounts/0');
    assert.deepEqual(
      inner.map(({ target }) => target),
      ['/proc/sys', '/etc/ld.so.preload', '/.sandbox'],
    );
  });

  it('lays a file over one that is there, and keeps the rest of its folder', () => {
    const { files } = plan(file('/etc/passwd'), file('/etc/hosts'));
    assert.equal(files.filter(({ path }) => path === '/etc/passwd').length, 1);
  });

  it('makes a mount point below a volume in the volume', () => {
    const { nested, folders } = plan(folder('/data', '/pod/d'), file('/data/a/b', '/pod/f'));
    assert.deepEqual(nested, [{ within: '/pod/d', path: '/pod/d/a/b', kind: 'file' }]);
    assert.equal(
      folders.some(({ path }) => path === '/data/a'),
      false,
    );
  });

  for (const [target, why] of [
    ['/usr/local/etc/app.conf', "/usr is this machine's and read-only"],
    ['/bin/tool', "/bin is this machine's and read-only"],
    ['/etc/ssl/certs/own.pem', "/etc/ssl/certs is this machine's and read-only"],
    ['/proc/1/environ', "/proc is the kernel's"],
    ['/dev/shm/x', '/dev/shm is a file system of its own'],
    ['/.sandbox/mounts/0', "/.sandbox is the sandbox's own"],
    ['/etc', 'it is a folder'],
    ['/etc/passwd/x', 'a part of the path is a file'],
  ] as const) {
    it(`refuses a file at ${target} with a sentence`, () => {
      assert.throws(
        () => plan(file(target)),
        (error) =>
          error instanceof StartError &&
          error.message.startsWith(`cannot mount`) &&
          error.message.includes(target) &&
          error.message.includes(why),
      );
    });
  }

  it('refuses a folder where there is a file', () => {
    assert.throws(() => plan(folder('/etc/hosts')), StartError);
  });

  it('makes the root read-only where the pod wants it', () => {
    const security = { ...SECURITY, readOnlyRootFilesystem: true };
    const [root] = planRoot('/pod/root', { mounts: [], security, hostname: 'pod' }, HOST).outer;
    assert.deepEqual(root?.options, ['bind', 'nosuid', 'nodev', 'ro']);
  });

  it('keeps what the file system of the home forbids', () => {
    assert.ok(plan().outer[0]?.options.includes('noexec'));
  });

  it('makes no link where a mount made a folder', () => {
    const { links, folders } = plan(file('/var/run/x'));
    assert.ok(folders.some(({ path }) => path === '/var/run'));
    assert.equal(
      links.some(({ path }) => path === '/var/run'),
      false,
    );
  });

  it('knows the user that the pod runs as by a name', () => {
    const { files } = planRoot(
      '/pod/root',
      { mounts: [], security: { ...SECURITY, runAsUser: 65_532 }, hostname: 'pod' },
      HOST,
    );
    assert.match(
      String(files.find(({ path }) => path === '/etc/passwd')?.content),
      /^bundle:x:65532:65532::\/root:\/bin\/sh$/m,
    );
  });
});
