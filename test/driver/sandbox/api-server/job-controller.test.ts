import assert from 'node:assert/strict';
import { ScriptedRuntime, withApiServer, type ContainerScript } from '../../../helpers/api-server.js';
import {
  createJob,
  eventsAbout,
  isFinished,
  jobWhen,
  podsOf,
  podWhen,
  sampleJob,
} from '../../../helpers/api-server-jobs.js';
import { ManualClock } from '../../../helpers/manual-clock.js';

const forEver: ContainerScript = async ({ terminated }) => {
  await terminated;
  return 143;
};

describe('a Job', () => {
  it('says with which words its pod was refused, and tries again', async () => {
    const clock = new ManualClock(0);
    const runtime = new ScriptedRuntime({ scripts: { invocation: () => 0 } });
    await withApiServer({ clock, runtime }, async (server) => {
      server.faults.denyPods('exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2', 1);
      const job = await createJob(server);
      await waitFor(() => eventsAbout(server, 'sample').some(({ reason }) => reason === 'FailedCreate'));
      const [event] = eventsAbout(server, 'sample');
      assert.equal(
        event?.message,
        'Error creating: pods "sample-" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2',
      );
      assert.equal(event.type, 'Warning');
      assert.deepEqual(podsOf(server, job), []);
      await clock.elapse(1000);
      await jobWhen(server, job, isFinished);
    });
  });

  it('fails without a second pod when backoffLimit is 0', () =>
    withApiServer({ runtime: new ScriptedRuntime({ scripts: { invocation: () => 3 } }) }, async (server) => {
      const job = await createJob(server);
      const { status } = await jobWhen(server, job, isFinished);
      assert.equal(status.failed, 1);
      assert.deepEqual(
        status.conditions?.map(({ type, reason }) => [type, reason]),
        [
          ['FailureTarget', 'BackoffLimitExceeded'],
          ['Failed', 'BackoffLimitExceeded'],
        ],
      );
      assert.equal(podsOf(server, job).length, 1);
    }));

  it('makes further pods up to its backoffLimit', async () => {
    let runs = 0;
    const invocation = (): number => (++runs < 3 ? 1 : 0);
    await withApiServer({ runtime: new ScriptedRuntime({ scripts: { invocation } }) }, async (server) => {
      const job = await createJob(server, { spec: { backoffLimit: 3 } });
      const { status } = await jobWhen(server, job, isFinished);
      assert.equal(status.succeeded, 1);
      assert.equal(status.failed, 2);
    });
  });

  it('deletes its pod when activeDeadlineSeconds are over', async () => {
    const clock = new ManualClock(0);
    await withApiServer(
      { clock, runtime: new ScriptedRuntime({ scripts: { invocation: forEver } }) },
      async (server) => {
        const job = await createJob(server, { spec: { activeDeadlineSeconds: 60 } });
        await podWhen(server, job, (pod) => pod.status.phase === 'Running');
        await clock.elapse(60_000);
        const { status } = await jobWhen(server, job, isFinished);
        assert.equal(status.conditions?.at(-1)?.reason, 'DeadlineExceeded');
        await waitFor(() => podsOf(server, job).length === 0);
      },
    );
  });

  it('goes when it has been finished for ttlSecondsAfterFinished', async () => {
    const clock = new ManualClock(0);
    await withApiServer(
      { clock, runtime: new ScriptedRuntime({ scripts: { invocation: () => 0 } }) },
      async (server) => {
        await createJob(server, { spec: { ttlSecondsAfterFinished: 86_400 } });
        await clock.elapse(86_400_000);
        await server.idle();
      },
    );
  });

  it('has no pod where the namespace enforces restricted and the pod is not, and is warned of that', () => {
    const namespaces = [{ name: 'default', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } }];
    return withApiServer({ namespaces }, async (server) => {
      const answer = await server.request('POST', '/apis/batch/v1/namespaces/default/jobs', sampleJob());
      assert.equal(answer.status, 201);
      assert.match(
        answer.headers.get('warning') ?? '',
        /^299 - "would violate PodSecurity \\"restricted:latest\\": allow/,
      );
      await waitFor(() => eventsAbout(server, 'sample').some(({ reason }) => reason === 'FailedCreate'));
      assert.equal(
        eventsAbout(server, 'sample')[0]?.message,
        'Error creating: pods "sample-" is forbidden: violates PodSecurity "restricted:latest": ' +
          'allowPrivilegeEscalation != false (containers "outputs", "invocation" must set securityContext.allowPrivilegeEscalation=false), ' +
          'unrestricted capabilities (containers "outputs", "invocation" must set securityContext.capabilities.drop=["ALL"]), ' +
          'runAsNonRoot != true (pod or containers "outputs", "invocation" must set securityContext.runAsNonRoot=true), ' +
          'seccompProfile (pod or containers "outputs", "invocation" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      );
    });
  });

  it('has no pod for a service account that is not there', () =>
    withApiServer({}, async (server) => {
      await createJob(server, { pod: { serviceAccountName: 'deployer' } });
      await waitFor(() => eventsAbout(server, 'sample').some(({ reason }) => reason === 'FailedCreate'));
      assert.match(
        eventsAbout(server, 'sample')[0]?.message ?? '',
        /error looking up service account default\/deployer: serviceaccount "deployer" not found$/,
      );
    }));
});

async function waitFor(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
