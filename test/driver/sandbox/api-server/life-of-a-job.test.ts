import assert from 'node:assert/strict';
import { withApiServer } from '../../../helpers/api-server.js';
import { createJob, isFinished, jobWhen, podWhen, recordPods } from '../../../helpers/api-server-jobs.js';

const JOBS = '/apis/batch/v1/namespaces/default/jobs';

describe('the life of a Job', () => {
  it('goes from the sidecar over the invocation to a completed Job, and its logs can be read', () =>
    withApiServer({}, async (server) => {
      const changes = recordPods(server);
      const job = await createJob(server, {
        invocation: 'echo hello; echo x > "$CNAB_ROOT/cnab/app/outputs/x"',
        sidecar: `trap 'T=1' TERM; echo ready; while [ -z "$T" ]; do sleep 0.02 & wait $!; done; cat "$CNAB_ROOT/cnab/app/outputs/x"`,
      });
      const done = await jobWhen(server, job, isFinished);
      assert.equal(done.status.succeeded, 1);
      const pod = await podWhen(server, job);
      const log = (query: string) =>
        server.request('GET', `/api/v1/namespaces/default/pods/${pod.metadata.name}/log?${query}`);
      assert.equal((await log('container=invocation')).text, 'hello\n');
      assert.equal((await log('container=outputs')).text, 'ready\nx\n');
      // The order that a kubelet of 1.37 shows to a watch.
      assert.deepEqual(changes, [
        'ADDED Pending',
        'MODIFIED Pending',
        'MODIFIED Pending, outputs PodInitializing, invocation PodInitializing',
        'MODIFIED Pending, outputs PodInitializing, invocation PodInitializing',
        'MODIFIED Pending, outputs running, invocation PodInitializing',
        'MODIFIED Running, outputs running, invocation running',
        'MODIFIED Running, outputs running, invocation Completed 0',
        'MODIFIED Running, outputs Completed 0, invocation Completed 0',
        'MODIFIED Succeeded, outputs Completed 0, invocation Completed 0',
        'MODIFIED Succeeded, outputs Completed 0, invocation Completed 0',
      ]);
      await server.request('DELETE', `${JOBS}/sample?propagationPolicy=Background`);
      await server.idle();
    }));
});
