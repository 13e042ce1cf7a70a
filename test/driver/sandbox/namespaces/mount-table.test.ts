import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  escaped,
  isWithin,
  lockedOptions,
  mountTable,
  parseMountinfo,
} from '../../../../src/driver/sandbox/namespaces/mount-table.js';

const MOUNTINFO = `22 1 0:21 / / rw,relatime - ext4 /dev/vda rw
23 22 0:22 / /home rw,nosuid,nodev,noexec,relatime shared:5 - ext4 /dev/vdb rw
24 23 0:23 /sub /home/a\\040b\\134c ro,relatime - tmpfs t rw
nonsense
25 22 0:24 / /usr ro,nodev - squashfs s ro
`;

describe('a table of mounts', () => {
  it('has one line for each mount, in order', () => {
    const line = { source: '/a b', target: '/c', type: 'none', options: ['bind', 'ro'] };
    assert.equal(
      mountTable([line, { ...line, target: '/d' }]),
      '/a\\040b /c none bind,ro 0 0\n/a\\040b /d none bind,ro 0 0\n',
    );
  });

  it('has paths as the kernel writes them, who escapes no blanks but these', () => {
    assert.equal(escaped('/a b\tc\nd\\e#f'), '/a\\040b\\011c\\012d\\134e\\043f');
    assert.equal(escaped('/\u3000\u00a0\r\v\f'), '/\u3000\u00a0\r\v\f');
  });

  it('takes any path for a single field, and the kernel writes it back the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const path = `/${text.replaceAll('\0', '')}`;
        const field = escaped(path);
        assert.doesNotMatch(field, /[ \t\n#]/);
        const [mount] = parseMountinfo(`1 2 0:1 / ${Buffer.from(field).toString('latin1')} rw - t t rw`);
        assert.equal(Buffer.from(mount?.point ?? '', 'latin1').toString(), path);
      }),
    );
  });

  it('leaves out lines of mountinfo that make no sense', () => {
    assert.deepEqual(
      parseMountinfo(MOUNTINFO).map(({ point }) => point),
      ['/', '/home', '/home/a b\\c', '/usr'],
    );
  });

  it('keeps the options that a user namespace may not drop, of the deepest mount on the way', () => {
    const mounts = parseMountinfo(MOUNTINFO);
    assert.deepEqual(lockedOptions(mounts, '/home/u/.local'), ['noexec']);
    assert.deepEqual(lockedOptions(mounts, '/home/a b\\c/d'), ['ro']);
    assert.deepEqual(lockedOptions(mounts, '/homes'), []);
    assert.deepEqual(lockedOptions(mounts, '/usr'), ['ro']);
  });

  it('of two mounts at one place takes the upper one', () => {
    const mounts = [...parseMountinfo(MOUNTINFO), { point: '/home', options: ['rw'] }];
    assert.deepEqual(lockedOptions(mounts, '/home/u'), []);
  });

  it('does not take a name that begins alike for a folder above', () => {
    assert.equal(isWithin('/usr', '/usrlocal'), false);
    assert.equal(isWithin('/usr', '/usr'), true);
    assert.equal(isWithin('/', '/anything'), true);
  });
});
