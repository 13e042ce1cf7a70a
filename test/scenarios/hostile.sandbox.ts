import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { SandboxStage, spellings, type Acted } from './sandbox-stage.js';

const SECRET = 'the-credential-that-must-stay-in-the-pod-5d1f7c';
const LARGE = 6 * 1024 * 1024;

/** Forged frames of this very run, whose id a bundle knows: its revision. Sets $frames. */
const FORGE = `
entry="entry 0 file 4 $(printf evil | sha256sum | cut -c 1-64)"
digest=$(printf '%s\\n' "$entry" | sha256sum | cut -c 1-64)
frames=$(for start in 1 2 9; do
  p="CNABO1 $CNAB_REVISION $start"
  printf '%s\\n' "$p hello 1 ." "$p ended ." "$p $entry ." "$p manifest 1 $digest ." "$p block 0 0 4 1 $(printf evil | sha256sum | cut -c 1-64) ." "$p data 0 0 0 ZXZpbA== ." "$p end $digest ."
done; printf 'CNABO1 another-run 1 ended .\\n')`;

const RUN = `${FORGE}
echo "$frames"
echo "$frames" >&2
cd /cnab/app/outputs
echo fine > fine
echo "$frames" > forged
echo "$frames" > "$(printf 'CNABO1\\n1 ended .')"
mkfifo pipe
ln -s /proc/1/environ environ
ln -s /proc/1 process
ln -s /etc/passwd passwd
ln -s /cnab-files files
ln -s /cnab-in inputs
ln -s /cnab-files/f3 input
ln -s /etc/app/credential credential
mkdir folder sub; ln -s ../../../../etc sub/above
truncate -s 1T sparse
head -c ${LARGE} /dev/zero | tr '\\0' 'x' > large
mkdir many; i=0; while [ $i -lt 3000 ]; do : > many/$i; i=$((i+1)); done
echo begun > growing
nohup setsid bash -c 'while :; do echo more >> growing; sleep 0.01; done' > /dev/null 2>&1 &
nohup setsid bash -c 'while :; do cp /etc/app/credential late.tmp; mv late.tmp late; sleep 0.01; done' > /dev/null 2>&1 &
sleep 0.3
`;

const OUTPUTS = {
  fine: 'fine',
  forged: 'forged',
  large: 'large',
  growing: 'growing',
  pipe: 'pipe',
  environ: 'environ',
  'environ-above': 'process/environ',
  passwd: 'passwd',
  'passwd-above': 'sub/above/passwd',
  'input-above': 'files/f3',
  'secret-above': 'inputs/f3.0',
  input: 'input',
  credential: 'credential',
  folder: 'folder',
  sparse: 'sparse',
  absent: 'absent',
};
const ARRIVING = ['fine', 'forged', 'growing', 'large'];

describe('an invocation image that is hostile', function () {
  this.timeout(60_000);
  let stage: SandboxStage;
  beforeEach(() => (stage = new SandboxStage()));
  afterEach(() => stage.close());

  const install = (flags: readonly string[]): Promise<Acted> => {
    const more = { credentials: { secret: { env: 'SECRET', path: '/etc/app/credential', required: true } } };
    const bundle = stage.bundle({ run: RUN, outputs: OUTPUTS, more });
    return stage.install(bundle, ['--credential', 'secret=env:GIVEN', ...flags], { GIVEN: SECRET });
  };

  for (const via of ['log', 'exec'] as const) {
    it(`scenario 23: nothing but its own files leaves the pod by ${via}, nothing hangs, and what is fine arrives`, async () => {
      const began = performance.now();
      const { code, document, stderr, stdout } = await install(['--outputs-via', via]);
      assert.ok(performance.now() - began < 45_000, 'it took too long');
      assert.deepEqual([code, document.ran, document.exitCode], [5, 'yes', 0], stderr);
      const arrived = document.outputs.map(({ name }) => name).sort();
      assert.deepEqual(arrived, ARRIVING, stderr);
      const told = [document.error?.message ?? '', ...(document.error?.details ?? [])].join('\n');
      for (const name of Object.keys(OUTPUTS)) {
        if (!ARRIVING.includes(name)) assert.match(told, new RegExp(`"${name}"`), told);
      }
      assert.equal((await stage.output('fine')).toString(), 'fine\n');
      assert.equal((await stage.output('large')).length, LARGE);
      assert.match((await stage.output('growing')).toString(), /^begun\n(more\n)*$/);

      assert.equal(/ data 2 /.test(stage.logs()), via === 'log', `the large output travelled by ${via}`);

      const passwd = readFileSync('/etc/passwd', 'utf8').split('\n')[0] ?? '';
      const outside = `${stage.logs()}\n${stage.documents()}\n${stdout}\n${stderr}`;
      for (const target of [SECRET, passwd, 'CNAB_WANTED_0']) {
        for (const text of spellings(target)) assert.ok(!outside.includes(text), `${text} is not outside the pod`);
      }
      for (const name of ARRIVING) {
        const bytes = await stage.output(name);
        assert.ok(!bytes.includes(SECRET) && !bytes.includes(passwd), name);
      }
    });
  }

  it('scenario 24: frames that are forged in its log, in a file and in a name, for this run or another, are content and nothing else', async () => {
    const { document, stderr } = await install(['--outputs-via', 'log']);
    assert.equal(document.exitCode, 0, stderr);
    const forged = (await stage.output('forged')).toString();
    assert.match(
      forged,
      /^CNABO1 \w{26} 1 hello 1 \.\n[\s\S]*data 0 0 0 ZXZpbA==[\s\S]*CNABO1 another-run 1 ended \.\n$/,
    );
    assert.equal((await stage.output('fine')).toString(), 'fine\n', 'not the forged bytes');
    assert.match(stderr, /^CNABO1 \w{26} 9 manifest 1 /m, 'the log of the bundle is shown as it is');
  });
});
