import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { NONROOT_TOOL } from '../bundle.js';
import { clusterCases } from '../cases.js';

const OUT = '/cnab/app/outputs';

clusterCases('outputs of a run on a cluster', (one) => {
  it('arrive byte for byte: empty, every byte value, without a final newline, and larger than a block', async () => {
    const script = `cd ${OUT}; : > empty
      awk 'BEGIN { for (i = 0; i < 256; i++) printf "\\\\%03o", i }' > octal; printf "$(cat octal)" > bytes
      printf 'no newline' > text; mkdir -p a/b
      i=0; while [ $i -lt 1200 ]; do printf '%1024s' $i; i=$((i+1)); done > a/b/large`;
    const outputs = { large: { definition: 'text', path: `${OUT}/a/b/large` } };
    const bundle = one().bundle({ script, outputs: ['empty', 'bytes', 'text'], more: { outputs } });
    const installed = await one().install(bundle);
    assert.equal(installed.code, 0, installed.stderr);
    assert.deepEqual(await one().output('empty'), Buffer.alloc(0));
    assert.deepEqual(await one().output('bytes'), Buffer.from(Array.from({ length: 256 }, (_, i) => i)));
    assert.equal((await one().output('text')).toString(), 'no newline');
    const large = Array.from({ length: 1200 }, (_, i) => String(i).padStart(1024)).join('');
    assert.equal((await one().output('large')).toString(), large);
  });

  it('arrive whatever their mode and owner: 0600 of root, 0600 of another user, in folders of mode 0700', async () => {
    const script = `cd ${OUT}; umask 077; echo root > root; mkdir -p deep; echo other > deep/other
      chown -R 1234:1234 deep; echo none > none; chmod 0 none`;
    const more = { outputs: { other: { definition: 'text', path: `${OUT}/deep/other` } } };
    const installed = await one().install(one().bundle({ script, outputs: ['root', 'none'], more }));
    assert.equal(installed.code, 0, installed.stderr);
    assert.equal((await one().output('root')).toString(), 'root\n');
    assert.equal((await one().output('other')).toString(), 'other\n');
    assert.equal((await one().output('none')).toString(), 'none\n');
  });

  it('arrive from an image whose user is not root, with mode 0600', async () => {
    const script = `umask 077; id -u > ${OUT}/uid`;
    const installed = await one().install(one().bundle({ script, image: NONROOT_TOOL, outputs: ['uid'] }));
    assert.equal(installed.code, 0, installed.stderr);
    assert.equal((await one().output('uid')).toString(), '65532\n');
  });

  it('that are links, folders or pipes are told one by one and not followed; the rest is kept (exit 5)', async () => {
    const script = `cd ${OUT}; ln -s /etc/passwd link; mkdir folder; mkfifo pipe; echo fine > fine; echo x > undeclared
      ln -s /etc above`;
    const more = { outputs: { above: { definition: 'text', path: `${OUT}/above/passwd` } } };
    const bundle = one().bundle({ script, outputs: ['link', 'folder', 'pipe', 'fine', 'absent'], more });
    const installed = await one().install(bundle);
    assert.equal(installed.code, 5, installed.stderr);
    assert.deepEqual([installed.document.ran, installed.document.exitCode], ['yes', 0]);
    for (const name of ['link', 'folder', 'pipe', 'absent', 'above'])
      assert.match(installed.told, new RegExp(`"${name}"`));
    assert.deepEqual(
      installed.document.outputs.map(({ name }) => name),
      ['fine'],
    );
    assert.equal((await one().output('fine')).toString(), 'fine\n');
  });

  it('above the limit that is set for the log end in one sentence, before any of them is sent (exit 5)', async () => {
    const script = `cd ${OUT}; truncate -s 6M big 2> /dev/null || dd if=/dev/zero of=big bs=1M count=6; echo s > small`;
    const bundle = one().bundle({ script, outputs: ['big', 'small'] });
    const installed = await one().install(bundle, ['--outputs-via', 'log', '--max-log-outputs', '5MiB']);
    assert.equal(installed.code, 5, installed.stderr);
    assert.match(installed.told, /"big".*exceed 5 MiB together/s);
    assert.equal((await one().output('small')).toString(), 's\n');
    await one().nothingIsLeft();
  });

  it('of 4 MiB arrive together with a log of 3 MB that is shown whole and in order', async () => {
    const script = `i=0; while [ $i -lt 30000 ]; do echo "$i ${'x'.repeat(95)}"; i=$((i+1)); done
      head -c 4194304 /dev/urandom > ${OUT}/random; sha256sum < ${OUT}/random`;
    const installed = await one().install(one().bundle({ script, outputs: ['random'] }));
    assert.equal(installed.code, 0, installed.stderr.slice(-2000));
    assert.equal(installed.document.logComplete, true);
    const random = createHash('sha256')
      .update(await one().output('random'))
      .digest('hex');
    const { stdout } = await one().run(['logs', 'app']);
    const lines = stdout.toString().split('\n');
    const numbers = lines.flatMap((line) => /^(\d+) x{95}$/.exec(line)?.[1] ?? []);
    assert.equal(numbers.length, 30_000);
    assert.ok(
      numbers.every((number, index) => Number(number) === index),
      'the lines are in order',
    );
    assert.ok(
      lines.some((line) => line.startsWith(random)),
      'the digest that the bundle has printed',
    );
    // What is shown meanwhile may have a line of progress in between.
    assert.ok((installed.stderr.match(/^\d+ x{95}$/gm)?.length ?? 0) > 29_900);
  });
});
