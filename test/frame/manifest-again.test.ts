import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Assembler } from '../../src/frame/assemble.js';
import { RUN } from '../helpers/run-sidecar.js';
import { EXEC, LIMITS, LOG, blocks, isNowhereIn, underEveryShell } from '../helpers/sidecar-trial.js';
import { withFolder } from '../helpers/staging.js';
import { until } from '../helpers/until.js';

/** What a process sees that comes when the log was rotated: the log after each of its manifests. */
function rotatedAfterManifests(log: Buffer): Buffer[] {
  const ends = [...log.toString('latin1').matchAll(/ manifest \d+ [0-9a-f]{64} \.\n/g)];
  return ends.map(({ index, 0: { length } }) => log.subarray(index + length));
}

/** What somebody makes of it who knows nothing else. */
const readLater = <T>(log: Buffer, wanted: number, look: (assembler: Assembler) => T): Promise<T> =>
  withFolder(async (staging) => {
    const assembler = await Assembler.open({ runId: RUN, wanted, staging, limits: LIMITS });
    await assembler.accept(log);
    const seen = look(assembler);
    await assembler.finish();
    return seen;
  });

describe('The manifest, in a log that is rotated', function () {
  this.timeout(60_000);
  const big = randomBytes(5 * 1_048_576 + 77);
  const secret = Buffer.from('hunter2hunter2');

  it('comes again so often that no rotation of long passes leaves a reader without it', () =>
    underEveryShell(
      { wanted: ['big', 'a', 'none'], way: LOG, environment: { CNAB_PAUSES: '1 1' } },
      { big, a: 'x' },
      async ({ sidecar, assembler, told, end }) => {
        await end();
        assert.equal(await sidecar.ended(), 0);
        await assembler.accept(sidecar.log());
        // Before the first pass; twice in the 7 blocks of each, and at its end.
        const rests = rotatedAfterManifests(sidecar.log());
        assert.equal(rests.length, 1 + 3 * 3);
        for (const part of told().split(' manifest ')) assert.ok(blocks(part).length <= 4);
        const seen = await Promise.all(
          rests.map((rest) => readLater(rest, 3, ({ manifest, complete }) => ({ sha256: manifest?.sha256, complete }))),
        );
        const wanted = assembler.manifest?.sha256 ?? assert.fail();
        // After the last one there is nothing to say any more. The last pass begins 4 manifests before the end.
        assert.deepEqual(
          seen.slice(0, -1),
          rests.slice(1).map((_, n) => ({ sha256: wanted, complete: n < 7 })),
        );
        assert.equal((await assembler.finish()).noise, 0);
      },
    ));

  it('comes again while the sidecar holds, for who comes when the log was rotated', () =>
    underEveryShell(
      { wanted: ['a', 'secret'], sensitive: [1], way: EXEC, environment: { CNAB_BEAT: '1' } },
      { a: 'public', secret },
      async ({ sidecar, assembler, end }) => {
        await end();
        await until('three manifests', () => rotatedAfterManifests(sidecar.log()).length === 3, 10);
        const [, rest = assert.fail()] = rotatedAfterManifests(sidecar.log());
        assert.match(rest.toString('latin1'), /^(?:[^\n]* beat \.\n){3,5}[^\n]* entry 0 /);
        await assembler.accept(sidecar.log());
        const { manifest } = assembler;
        await readLater(rest, 2, (later) => {
          assert.deepEqual(later.manifest, manifest);
          assert.deepEqual([later.mainEnded, later.missing().length], [true, 2]);
        });
        isNowhereIn(sidecar.log(), secret);
        assert.equal((await assembler.finish()).noise, 0);
      },
    ));
});
