import assert from 'node:assert/strict';
import { ContractJob, type ContractCluster } from './api-server-contract.js';
import { until } from './until.js';

const TRAP = `trap 'T=1' TERM; while [ -z "$T" ]; do sleep 0.05 & wait $!; done`;

/** What the API server of the sandbox and a real one must have in common. `open` gives the cluster that is asked. */
export function contractCases(title: string, open: () => ContractCluster): void {
  let count = 0;
  let jobs: ContractJob[] = [];
  const job = (namespace?: string): ContractJob => {
    const made = new ContractJob(open(), `contract-${++count}`, namespace);
    jobs.push(made);
    return made;
  };

  describe(title, function () {
    this.timeout(90_000);

    afterEach(async () => {
      await Promise.all(jobs.map((one) => one.remove()));
      jobs = [];
    });

    it('shows a pod in these steps until its Job is complete', async () => {
      const one = job();
      await one.create({ sidecar: `${TRAP}; exit 9`, invocation: 'sleep 1' });
      const { status } = await one.finished();
      assert.equal(status.succeeded, 1);
      await one.shows('MODIFIED Succeeded');
      const steps = [
        'ADDED Pending',
        'MODIFIED Pending',
        'MODIFIED Pending, outputs PodInitializing, invocation PodInitializing',
        'MODIFIED Pending, outputs running, invocation PodInitializing',
        'MODIFIED Running, outputs running, invocation running',
        'MODIFIED Running, outputs running, invocation Completed 0',
        'MODIFIED Running, outputs Error 9, invocation Completed 0',
        'MODIFIED Succeeded, outputs Error 9, invocation Completed 0',
      ];
      // What changes while a kubelet is still writing the last status is written with the next one: then a step is passed over.
      const seen = open().mergesStatuses ? steps.filter((step) => one.changes.includes(step)) : steps;
      assert.deepEqual(one.changes, seen);
      for (const lasting of [0, 4, 7]) assert.ok(one.changes.includes(steps[lasting] ?? ''), steps[lasting]);
    });

    it('fails a Job with the invocation, and makes no second pod', async () => {
      const one = job();
      await one.create({ invocation: 'exit 3' });
      const { status } = await one.finished();
      const conditions = status.conditions?.map(({ type, reason }) => `${type} ${reason}`) ?? [];
      // The first of the two came with 1.31.
      const [last, first = 'FailureTarget BackoffLimitExceeded'] = conditions.reverse();
      assert.deepEqual(
        [status.failed, first, last],
        [1, 'FailureTarget BackoffLimitExceeded', 'Failed BackoffLimitExceeded'],
      );
      await one.shows('MODIFIED Failed, outputs Completed 0, invocation Error 3');
    });

    it('ends a container that cannot be started with StartError 128, and the sidecar after it', async () => {
      const one = job();
      await one.create({ invocationFields: { command: ['/nope'] } });
      await one.finished();
      await one.shows('MODIFIED Failed, outputs Completed 0, invocation StartError 128');
    });

    it('gives a deleted pod its first grace period, and shows the exit codes before it goes', async () => {
      const one = job();
      await one.create({ invocation: `trap 'sleep 1; exit 5' TERM; echo set; while :; do sleep 0.05 & wait $!; done` });
      await one.shows('MODIFIED Running, outputs running, invocation running');
      // Running says nothing of the trap, and without it a first process ignores the signal.
      await until('its trap', async () => (await one.log('container=invocation')).text.includes('set'));
      const refused = await open().request('DELETE', one.podPath, { preconditions: { uid: 'other' } });
      assert.equal(refused.status, 409);
      await open().request('DELETE', one.podPath, { gracePeriodSeconds: 30 });
      await open().request('DELETE', one.podPath, { gracePeriodSeconds: 2 });
      await one.shows('DELETED');
      assert.ok(
        one.changes.includes('MODIFIED Failed deleted 2, outputs Completed 0, invocation Error 5'),
        one.changes.join('\n'),
      );
      assert.equal(one.changes.at(-1), 'DELETED Failed deleted 0, outputs Completed 0, invocation Error 5');
      assert.equal((await one.finished()).status.failed, 1);
    });

    it('says why a container cannot be made in an event, before the status says it', async () => {
      const one = job();
      const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'k' } } }];
      await one.create({ invocationFields: { env } });
      await until('an event that names the Secret', async () =>
        (await one.events()).some(
          ({ reason, message }) => reason === 'Failed' && message === 'Error: secret "none" not found',
        ),
      );
      // Not what the status says instead: on a busy node it is the one of some steps before.
      const told = one.changes.filter((line) => line.includes('CreateContainerConfigError'));
      assert.deepEqual(told, []);
      await one.shows('MODIFIED Pending, outputs running, invocation CreateContainerConfigError');
      const log = await one.log('container=invocation');
      assert.equal(log.status, 400);
      assert.match(log.text, /is waiting to start: CreateContainerConfigError"/);
    });

    it('refuses a pod that a restricted namespace does not allow, in the events of its Job', async () => {
      const one = job(open().restricted);
      const created = await one.create();
      assert.equal(created.status, 201);
      assert.match(String(created.headers['warning']), /^299 - "would violate PodSecurity \\"restricted:latest\\"/);
      await until('a FailedCreate', async () => (await one.events()).some(({ reason }) => reason === 'FailedCreate'));
      const [event] = (await one.events()).filter(({ reason }) => reason === 'FailedCreate');
      const both = 'containers "outputs", "invocation" must set';
      assert.equal(
        event?.message.replace(/pods "[^"]*"/, 'pods "X"'),
        `Error creating: pods "X" is forbidden: violates PodSecurity "restricted:latest": ` +
          `allowPrivilegeEscalation != false (${both} securityContext.allowPrivilegeEscalation=false), ` +
          `unrestricted capabilities (${both} securityContext.capabilities.drop=["ALL"]), ` +
          `runAsNonRoot != true (pod or ${both} securityContext.runAsNonRoot=true), ` +
          `seccompProfile (pod or ${both} securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`,
      );
    });

    it('removes what a Job owns with it', async () => {
      const one = job();
      // A SIGTERM that comes before the trap is set is lost, and then the grace period has to pass.
      const pod = { terminationGracePeriodSeconds: 1 };
      const created = await one.create({ invocation: 'sleep 0.3', pod });
      const { metadata } = JSON.parse(created.text) as { metadata: { uid: string } };
      const path = `/api/v1/namespaces/${open().namespace}/secrets`;
      const owner = { apiVersion: 'batch/v1', kind: 'Job', name: one.name, uid: metadata.uid };
      const secret = { metadata: { name: one.name, ownerReferences: [owner] }, stringData: { a: 'b' } };
      assert.equal((await open().request('POST', path, secret)).status, 201);
      const { status, text } = await open().request('DELETE', `${one.path}?propagationPolicy=Background`);
      assert.equal(status, 200);
      assert.equal((JSON.parse(text) as { status: string }).status, 'Success');
      await until(
        'the Secret is gone',
        async () => (await open().request('GET', `${path}/${one.name}`)).status === 404,
      );
      await one.shows('DELETED');
    });

    it('reads a log by records and whole seconds, and tells why there is none', async () => {
      const one = job();
      await one.create({ invocation: `head -c 40000 /dev/zero | tr '\\0' x; echo; echo short; printf rest` });
      await one.finished();
      const long = 'x'.repeat(40_000);
      assert.equal((await one.log('container=invocation')).text, `${long}\nshort\nrest`);
      assert.equal((await one.log('')).text, `${long}\nshort\nrest`);
      assert.equal(
        (await one.log('container=invocation&tailLines=3')).text,
        `${'x'.repeat(40_000 - 2 * 16_384)}\nshort\nrest`,
      );
      assert.equal((await one.log('container=invocation&limitBytes=3')).text, 'xxx');
      const stamped = (await one.log('container=invocation&timestamps=true')).text.split('\n');
      assert.deepEqual(
        stamped.map((line) => /^\S{30} /.test(line)),
        [true, true, true],
      );
      const second = `${(stamped[2] ?? '').slice(0, 19)}.999Z`;
      assert.match((await one.log(`container=invocation&sinceTime=${second}`)).text, /rest$/);
      const refusals = {
        'container=none': [400, `container none is not valid for pod ${one.pod?.metadata.name}`],
        'container=invocation&tailLines=-1': [
          422,
          `PodLogOptions "${one.pod?.metadata.name}" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0`,
        ],
        'container=outputs&previous=true': [
          400,
          `previous terminated container "outputs" in pod "${one.pod?.metadata.name}" not found`,
        ],
      };
      for (const [query, expected] of Object.entries(refusals)) {
        const { status, text } = await one.log(query);
        assert.deepEqual([status, (JSON.parse(text) as { message: string }).message], expected);
      }
    });

    it('expands the environment, lays out a Secret as links, and mounts single files', async () => {
      const one = job();
      const path = `/api/v1/namespaces/${open().namespace}/secrets`;
      const data = { a: Buffer.from('$(HOME)').toString('base64'), f0: Buffer.from('file').toString('base64') };
      await open().request('POST', path, { metadata: { name: `${one.name}-s` }, data });
      await one.create({
        invocation:
          'echo "$A|$B|$C"; readlink "$CNAB_ROOT/s/a"; cat "$CNAB_ROOT/etc/f"; echo; [ -d "$CNAB_ROOT/made" ] && echo folder; echo $$(echo sub)',
        invocationFields: {
          env: [
            { name: 'A', valueFrom: { secretKeyRef: { name: `${one.name}-s`, key: 'a' } } },
            { name: 'B', value: '$(A) $$(A) $(NONE)' },
            { name: 'C', valueFrom: { secretKeyRef: { name: `${one.name}-s`, key: 'none', optional: true } } },
          ],
          volumeMounts: [
            { name: 's', mountPath: '/s' },
            { name: 's', mountPath: '/etc/f', subPath: 'f0' },
            { name: 'outputs', mountPath: '/made', subPath: 'not/there' },
          ],
        },
        pod: {
          volumes: [
            { name: 'outputs', emptyDir: {} },
            { name: 's', projected: { sources: [{ secret: { name: `${one.name}-s` } }] } },
          ],
        },
      });
      await one.finished();
      assert.equal(
        (await one.log('container=invocation')).text,
        '$(HOME)|$(HOME) $(A) $(NONE)|\n..data/a\nfile\nfolder\nsub\n',
      );
    });
  });
}
