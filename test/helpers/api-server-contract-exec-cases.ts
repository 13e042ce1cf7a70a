import assert from 'node:assert/strict';
import { ContractJob, type ContractCluster } from './api-server-contract.js';
import type { ExecAnswer, ExecClientOptions, ExecEnd } from './exec-client.js';
import { until } from './until.js';

const RUNS = 'MODIFIED Running, outputs running, invocation running';
/** Until it is told to end by a file, whatever signals come. */
const UNTIL_TOLD = `trap ':' TERM; while [ ! -e "$CNAB_ROOT/cnab/app/outputs/end" ]; do sleep 0.05 & wait $!; done; exit 4`;
const TELL = ['sh', '-c', ': > "$CNAB_ROOT/cnab/app/outputs/end"'];

const sh = (script: string): string[] => ['sh', '-c', script];
const exitCode = (end: ExecEnd | undefined): string | undefined =>
  end?.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message;

/** What an exec into a pod of the sandbox and of a cluster have in common. */
export function execContractCases(title: string, open: () => ContractCluster): void {
  let count = 0;
  let one: ContractJob;

  describe(title, function () {
    this.timeout(90_000);

    beforeEach(async () => {
      one = new ContractJob(open(), `contract-exec-${++count}`);
      const env = [{ name: 'CNAB_CONTRACT', value: 'here' }];
      await one.create({ sidecar: UNTIL_TOLD, sidecarFields: { env }, invocation: UNTIL_TOLD });
      await one.shows(RUNS);
    });
    afterEach(async () => {
      for (const container of ['outputs', 'invocation']) await one.exec(container, TELL);
      await one.remove();
    });

    it('brings both outputs byte by byte, and says Success', async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      const octal = [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
      const { protocol, stdout, stderr, end, code, channels } = await one.exec(
        'invocation',
        sh(`printf '${octal}'; echo err >&2; head -c 3000000 /dev/zero`),
      );
      assert.equal(protocol, 'v5.channel.k8s.io');
      assert.deepEqual(stdout.subarray(0, 256), bytes);
      assert.ok(stdout.subarray(256).equals(Buffer.alloc(3_000_000)));
      assert.equal(stderr.toString(), 'err\n');
      assert.deepEqual(end, { metadata: {}, status: 'Success' });
      assert.equal(code, 1000);
      assert.equal(channels[0], 1, 'an empty message says that the client is connected');
      assert.equal(channels.at(-1), 3);
    });

    it('gives the exit code of a command that failed, or was killed', async () => {
      const failed = await one.exec('outputs', sh('echo x; exit 3'));
      assert.deepEqual(failed.end, {
        metadata: {},
        status: 'Failure',
        message: 'command terminated with non-zero exit code: command terminated with exit code 3',
        reason: 'NonZeroExitCode',
        details: { causes: [{ reason: 'ExitCode', message: '3' }] },
      });
      assert.equal(failed.stdout.toString(), 'x\n');
      assert.equal(exitCode((await one.exec('outputs', sh('kill -9 $$'))).end), '137');
    });

    it('tells a command that cannot be started from one that failed', async () => {
      const { protocol, end } = await one.exec('invocation', ['/no/such/command']);
      assert.equal(protocol, 'v5.channel.k8s.io');
      assert.deepEqual([end?.status, end?.reason, end?.code], ['Failure', 'InternalError', 500]);
      assert.match(
        end?.message ?? '',
        /^Internal error occurred: Internal error occurred: error executing command in container: .*\/no\/such\/command/,
      );
      assert.equal(exitCode(end), undefined);
    });

    it('has the environment, the folder and the files of its container', async () => {
      const { stdout } = await one.exec('outputs', sh('echo "$CNAB_CONTRACT|$PATH" | grep -q "^here|/" && echo yes'));
      assert.equal(stdout.toString(), 'yes\n');
      await one.exec('invocation', sh('echo shared > "$CNAB_ROOT/cnab/app/outputs/file"'));
      const { stdout: shared } = await one.exec('outputs', sh('cat "$CNAB_ROOT/cnab/app/outputs/file"'));
      assert.equal(shared.toString(), 'shared\n');
    });

    it('serves several at once', async () => {
      const texts = ['a', 'b', 'c'];
      const answers = await Promise.all(texts.map((text) => one.exec('outputs', sh(`sleep 0.3; echo ${text}`))));
      assert.deepEqual(
        answers.map(({ stdout, end }) => [stdout.toString(), end?.status]),
        texts.map((text) => [`${text}\n`, 'Success']),
      );
    });

    it('speaks v4 with a client that knows no other, and nothing with one that knows neither', async () => {
      const old = await one.exec('outputs', ['echo', 'x'], { protocols: ['v4.channel.k8s.io'] });
      assert.deepEqual([old.protocol, old.stdout.toString(), old.end?.status], ['v4.channel.k8s.io', 'x\n', 'Success']);
      const both = await one.exec('outputs', ['echo', 'x'], {
        protocols: ['v9.channel.k8s.io', 'v4.channel.k8s.io', 'v5.channel.k8s.io'],
      });
      assert.equal(both.protocol, 'v5.channel.k8s.io');
      const other = await one.exec('outputs', ['echo', 'x'], { protocols: ['v9.channel.k8s.io'] });
      assert.deepEqual([other.status, other.text, other.protocol], [403, '', undefined]);
    });

    it('ends when the last process that has its output is gone', async () => {
      const { stdout, end } = await one.exec('outputs', sh('(sleep 1; echo later) & echo first'));
      assert.deepEqual([stdout.toString(), end?.status], ['first\nlater\n', 'Success']);
    });

    it('slows the process down to the pace of a client that reads slowly, and loses nothing', async () => {
      const file = '"$CNAB_ROOT/cnab/app/outputs/progress"';
      const millions = 80;
      const script = `i=0; while [ $i -lt ${millions} ]; do head -c 1000000 /dev/zero; i=$((i + 1)); echo $i > ${file}; done`;
      let go = (): void => undefined;
      let read: Promise<ExecAnswer> | undefined;
      const paused = new Promise<void>((resolve) => {
        let isFirst = true;
        const onStdout: ExecClientOptions['onStdout'] = (_, socket) => {
          if (!isFirst) return;
          isFirst = false;
          socket.pause();
          go = () => socket.resume();
          resolve();
        };
        read = one.exec('outputs', sh(script), { onStdout });
      });
      await paused;
      const progress = async (): Promise<number> =>
        Number((await one.exec('outputs', sh(`cat ${file}`))).stdout.toString());
      let before = -1;
      await until('the process stands still', async () => {
        const now = await progress();
        const stands = now === before;
        before = now;
        await new Promise((resolve) => setTimeout(resolve, 500));
        return stands;
      });
      assert.ok(before < millions, `${before} of ${millions} MB went nowhere`);
      go();
      const { stdout, end } = (await read) ?? assert.fail('no exec');
      assert.deepEqual([stdout.length, end?.status], [millions * 1_000_000, 'Success']);
    });

    it('answers pings', async () => {
      let pongs = 0;
      await one.exec('outputs', ['sleep', '0.5'], {
        onOpen: (socket) => {
          socket.on('pong', () => (pongs += 1));
          socket.ping();
        },
      });
      assert.equal(pongs, 1);
    });

    it('lets the process go on when its client goes, and does not read from it any more', async () => {
      const file = '"$CNAB_ROOT/cnab/app/outputs/after"';
      const quiet = `echo x; sleep 1; echo quiet >> ${file}`;
      // More than the buffers on the way hold, also where a busy kubelet learns late that nobody listens.
      const loud = `echo x; head -c 100000000 /dev/zero; echo loud >> ${file}`;
      for (const script of [quiet, loud]) {
        await one.exec('outputs', sh(script), { onStdout: (_, socket) => socket.terminate() });
      }
      await until('the quiet one went on', async () => {
        const { stdout } = await one.exec('outputs', sh(`cat ${file}`));
        return stdout.toString().includes('quiet');
      });
      const { stdout } = await one.exec('outputs', sh(`cat ${file}`));
      assert.equal(stdout.toString(), 'quiet\n');
    });

    it('goes on in a pod that is being deleted, and ends with its container', async () => {
      await open().request('DELETE', one.podPath, { gracePeriodSeconds: 60 });
      await until('the pod is terminating', async () => {
        const { text } = await open().request('GET', one.podPath);
        return (
          (JSON.parse(text) as { metadata: { deletionTimestamp?: string } }).metadata.deletionTimestamp !== undefined
        );
      });
      const inside = await one.exec('outputs', sh('echo here; exit 7'));
      assert.deepEqual([inside.stdout.toString(), exitCode(inside.end)], ['here\n', '7']);
      let tell = (): void => undefined;
      const begun = new Promise<void>((resolve) => (tell = resolve));
      const last = one.exec('invocation', sh('echo begun; sleep 50'), { onStdout: () => tell() });
      await begun;
      await one.exec('invocation', TELL);
      const { end } = await last;
      assert.deepEqual([end?.reason, exitCode(end)], ['NonZeroExitCode', '137']);
    });

    it('says what is wrong with what is asked, each in its own way', async () => {
      const name = one.pod?.metadata.name;
      const ask = async (path: string): Promise<unknown> => {
        const { status, text } = await open().exec(path);
        const isStatus = text.startsWith('{');
        return [status, isStatus ? (JSON.parse(text) as { message: string }).message : text];
      };
      const base = `${one.podPath}/exec`;
      const rest = 'stdout=1&command=id';
      assert.deepEqual(await ask(`${base}?container=none&${rest}`), [
        400,
        `container none is not valid for pod ${name}`,
      ]);
      assert.deepEqual(await ask(`${base.replace(`${name}`, 'none')}?container=outputs&${rest}`), [
        404,
        'pods "none" not found',
      ]);
      for (const method of ['GET', 'POST']) {
        const { status, text } = await open().request(method, `${base}?container=outputs&${rest}`);
        assert.deepEqual(
          [status, (JSON.parse(text) as { message: string }).message],
          [400, 'Upgrade request required'],
        );
      }
      assert.equal((await open().request('DELETE', `${base}?container=outputs&${rest}`)).status, 405);
      await one.exec('invocation', TELL);
      await until('the invocation has ended', async () => {
        const { status, text, end } = await open().exec(`${base}?container=invocation&${rest}`);
        // An API server that translates WebSockets for the kubelet switches first, and refuses in the status channel (seen with 1.30).
        const [code, words] = end === undefined ? [status, text] : [end.code, end.message ?? ''];
        // Before that the container runtime refuses, in words of its own.
        return code === 500 && /(?:^|: )container not found \("invocation"\)\s*$/.test(words);
      });
    });
  });
}
