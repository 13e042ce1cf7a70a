import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { createConnection } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { ScriptedRuntime, withApiServer } from '../../../helpers/api-server.js';
import { createJob, podWhen, stateOf } from '../../../helpers/api-server-jobs.js';

const SECRETS = '/api/v1/namespaces/default/secrets';
const REVIEWS = '/apis/authorization.k8s.io/v1';

describe('access to the API server', () => {
  it('needs the token, whatever is asked', () =>
    withApiServer({}, async (server) => {
      for (const authorization of ['', 'Bearer', 'Bearer wrong', `Basic ${server.token}`, `Bearer ${server.token}x`]) {
        for (const path of ['/version', SECRETS, '/nothing']) {
          const answer = await server.request('GET', path, undefined, { authorization });
          assert.equal(answer.status, 401, `${path} with ${authorization}`);
          assert.equal(answer.json()['reason'], 'Unauthorized');
        }
      }
      assert.equal((await server.request('GET', '/version')).json()['minor'], '37');
    }));

  it('is to be had on the loopback interface alone', () =>
    withApiServer({}, async (server) => {
      const { port, hostname } = new URL(server.url);
      assert.equal(hostname, '127.0.0.1');
      const others = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
      for (const { address, internal, family } of others) {
        if (internal || family !== 'IPv4') continue;
        assert.equal(await connects(address, Number(port)), false, address);
      }
    }));

  it('ends with 413 for a body that is too large, and the server goes on', () =>
    withApiServer({}, async (server) => {
      const answer = await server.request('POST', SECRETS, { data: { a: 'x'.repeat(9 * 1024 ** 2) } });
      assert.equal(answer.status, 413);
      assert.match(answer.text, /Request entity too large: limit is 3145728/);
      assert.equal((await server.request('GET', SECRETS)).status, 200);
      const yaml = await server.request('POST', SECRETS, 'a: b', { 'content-type': 'application/yaml' });
      assert.equal(yaml.status, 415);
    }));

  it('leads to no file, whatever names are asked for', () =>
    withApiServer({}, async (server) => {
      const names = ['..%2f..%2f..%2fetc%2fpasswd', '%2e%2e', '%00', 'a%2fb', '%zz'];
      for (const name of names) {
        for (const path of [`/api/v1/namespaces/default/pods/${name}/log`, `${SECRETS}/${name}`]) {
          const { status } = await server.request('GET', path);
          assert.ok(status === 404 || status === 405, `${path}: ${status}`);
        }
      }
      const body = { metadata: { name: '../../evil' }, stringData: { a: 'b' } };
      assert.equal((await server.request('POST', SECRETS, body)).status, 422);
    }));

  it('leaves what pods have on the disk to the user alone, and nothing of it at the end', async () => {
    const runtime = new ScriptedRuntime({ scripts: {} });
    let folder = '';
    await withApiServer({ runtime }, async (server) => {
      folder = server.folder;
      await server.request('POST', SECRETS, { metadata: { name: 's' }, stringData: { a: 'secret' } });
      const volumes = [{ name: 'outputs', secret: { secretName: 's' } }];
      const job = await createJob(server, { pod: { volumes } });
      const pod = await podWhen(server, job, (now) => stateOf(now, 'outputs').running !== undefined);
      for (const path of ['pods', 'memory', `pods/${pod.metadata.uid}`, `memory/${pod.metadata.uid}`]) {
        assert.equal(statSync(join(folder, path)).mode & 0o777, 0o700, path);
      }
      const log = join(folder, 'pods', pod.metadata.uid, 'logs', 'outputs', '0.log');
      assert.equal(statSync(log).mode & 0o777, 0o600);
      await server.request('DELETE', '/apis/batch/v1/namespaces/default/jobs/sample?propagationPolicy=Background');
      await server.idle();
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(readdirSync(join(folder, 'pods')), []);
      assert.deepEqual(readdirSync(join(folder, 'memory')), []);
    });
    assert.equal(existsSync(folder), false);
  });

  it('can be reviewed before it is used', () =>
    withApiServer({}, async (server) => {
      const review = async (resource: string, subresource: string): Promise<unknown> => {
        const resourceAttributes = { namespace: 'default', verb: 'create', resource, subresource };
        const answer = await server.request('POST', `${REVIEWS}/selfsubjectaccessreviews`, {
          spec: { resourceAttributes },
        });
        assert.equal(answer.status, 201);
        return answer.json<{ status: { allowed: boolean } }>().status.allowed;
      };
      assert.equal(await review('pods', 'log'), true);
      server.faults.forbid({ verb: 'create', resource: 'pods/log' });
      assert.equal(await review('pods', 'log'), false);
      assert.equal(await review('pods', ''), true);
      assert.equal(await review('pods', 'exec'), true);
      assert.equal(await review('pods', 'attach'), false, 'which is not served');
      server.faults.forbid({ verb: 'create', resource: 'secrets' }, { review: true });
      assert.equal(await review('secrets', ''), true, 'a review that does not know of a webhook');
      const denied = await server.request('POST', SECRETS, { metadata: { name: 'a' } });
      assert.equal(denied.status, 403);
      assert.equal(
        denied.json()['message'],
        'secrets is forbidden: User "sandbox" cannot create resource "secrets" in API group "" in the namespace "default"',
      );
    }));

  it('is told as rules, with what was taken away taken out', () =>
    withApiServer({}, async (server) => {
      const path = `${REVIEWS}/selfsubjectrulesreviews`;
      const rules = async (): Promise<Record<string, string[]>> => {
        const answer = await server.request('POST', path, { spec: { namespace: 'default' } });
        assert.equal(answer.status, 201);
        interface Rule {
          readonly verbs: string[];
          readonly resources: string[];
        }
        const { status } = answer.json<{ status: { resourceRules: Rule[] } }>();
        return Object.fromEntries(status.resourceRules.map(({ verbs, resources }) => [resources.join(), verbs]));
      };
      assert.deepEqual((await rules())['pods/exec'], ['get', 'list', 'watch', 'create', 'delete']);
      server.faults.forbid({ verb: 'create', resource: 'pods/exec' });
      server.faults.forbid({ resource: 'secrets', namespace: 'default' });
      server.faults.forbid({ verb: 'list', resource: 'jobs' }, { review: true });
      const left = await rules();
      assert.deepEqual(left['pods/exec'], ['get', 'list', 'watch', 'delete']);
      assert.equal(left['secrets'], undefined);
      assert.ok(left['jobs']?.includes('list'), 'a review that does not know of a webhook');
      server.faults.hideRules();
      assert.deepEqual(await rules(), {});
      const nowhere = await server.request('POST', path, { spec: {} });
      assert.deepEqual([nowhere.status, nowhere.json()['message']], [400, 'no namespace on request']);
      assert.equal((await server.request('GET', path)).status, 405);
    }));

  it('takes no path for a host, and none that is none for a fault of its own', () =>
    withApiServer({}, async (server) => {
      const { port } = new URL(server.url);
      const status = (path: string): Promise<number | undefined> =>
        new Promise((resolve, reject) => {
          const headers = { authorization: `Bearer ${server.token}` };
          get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
            response.resume();
            resolve(response.statusCode);
          }).on('error', reject);
        });
      assert.deepEqual(
        await Promise.all(['//[', `//other${SECRETS}`, '*', 'http://other/version'].map(status)),
        [404, 404, 405, 405],
      );
      assert.deepEqual(server.bugs, []);
    }));

  it('tells unknown paths, resources and methods apart', () =>
    withApiServer({}, async (server) => {
      assert.equal((await server.request('GET', '/apis/foo/v1/x')).text, '404 page not found\n');
      assert.equal((await server.request('GET', '/api/v1/namespaces/default/nothing')).json()['reason'], 'NotFound');
      assert.equal((await server.request('PUT', SECRETS, {})).json()['reason'], 'MethodNotAllowed');
      for (const [method, path] of [
        ['POST', '/api/v1/namespaces/default/pods'],
        ['POST', '/api/v1/namespaces/default/configmaps'],
        ['DELETE', '/api/v1/namespaces/default'],
        ['DELETE', SECRETS],
      ] as const) {
        assert.equal((await server.request(method, path, {})).status, 405, `${method} ${path}`);
      }
      assert.equal(
        (await server.request('GET', '/apis/batch/v1/namespaces/default/jobs/x')).json()['message'],
        'jobs.batch "x" not found',
      );
    }));
});

function connects(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: 500 });
    const end = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', end(true));
    socket.once('error', end(false));
    socket.once('timeout', end(false));
  });
}
