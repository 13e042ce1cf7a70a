import assert from 'node:assert/strict';
import type { Job, Secret } from '../../../../src/driver/sandbox/api-server/objects.js';
import { withApiServer, type TestApiServer } from '../../../helpers/api-server.js';
import { sampleJob } from '../../../helpers/api-server-jobs.js';

const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const SECRETS = '/api/v1/namespaces/default/secrets';

interface Failure {
  readonly message: string;
  readonly reason: string;
  readonly details?: { readonly name?: string; readonly causes?: readonly { readonly field: string }[] };
}

/** A Job of one container, changed by the case. */
function job(spec: object, pod: object = {}): object {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'b' }], ...pod } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'x' }, spec: { ...spec, template } };
}

describe('the creation of an object', () => {
  it('completes a Job as the API server does', () =>
    withApiServer({}, async (server) => {
      const answer = await server.request('POST', JOBS, job({}));
      assert.equal(answer.status, 201);
      const { metadata, spec, status } = answer.json<Job>();
      const labels = {
        'batch.kubernetes.io/controller-uid': metadata.uid,
        'batch.kubernetes.io/job-name': 'x',
        'controller-uid': metadata.uid,
        'job-name': 'x',
      };
      assert.deepEqual(metadata.labels, labels);
      assert.equal(metadata.generation, 1);
      assert.deepEqual(status, {});
      // Compared with what a 1.37 answers.
      assert.deepEqual(spec, {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': metadata.uid } },
        manualSelector: false,
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                name: 'a',
                image: 'b',
                resources: {},
                terminationMessagePath: '/dev/termination-log',
                terminationMessagePolicy: 'File',
                imagePullPolicy: 'Always',
              },
            ],
            restartPolicy: 'Never',
            terminationGracePeriodSeconds: 30,
            dnsPolicy: 'ClusterFirst',
            securityContext: {},
            schedulerName: 'default-scheduler',
          },
        },
        completionMode: 'NonIndexed',
        suspend: false,
        podReplacementPolicy: 'TerminatingOrFailed',
      });
    }));

  it('keeps the restartPolicy of a native sidecar, which an old server drops', () =>
    withApiServer({}, async (server) => {
      const kept = (await server.request('POST', JOBS, sampleJob())).json<Job>();
      assert.equal(kept.spec.template.spec.initContainers?.[0]?.restartPolicy, 'Always');
      server.faults.dropField('jobs', 'initContainers', 'restartPolicy');
      const old = (await server.request('POST', JOBS, sampleJob({ name: 'old', sidecar: 'true' }))).json<Job>();
      assert.equal(old.spec.template.spec.initContainers?.[0]?.restartPolicy, undefined);
      assert.equal(old.spec.template.spec.restartPolicy, 'Never');
      // With a postStart hook it is not even taken: plain init containers have none.
      const hooked = await server.request('POST', JOBS, sampleJob({ name: 'hooked' }));
      assert.equal(hooked.status, 422);
      assert.match(hooked.text, /initContainers\[0\]\.lifecycle: Forbidden/);
    }));

  it('drops unknown fields with a warning, and refuses them when it is strict', () =>
    withApiServer({}, async (server) => {
      const odd = job({ foo: 1 }, { containers: [{ name: 'a', image: 'b', bar: 1 }] });
      const answer = await server.request('POST', JOBS, odd);
      assert.equal(
        answer.headers.get('warning'),
        '299 - "unknown field \\"spec.foo\\"", 299 - "unknown field \\"spec.template.spec.containers[0].bar\\""',
      );
      assert.ok(!answer.text.includes('bar'));
      const strict = await server.request('POST', `${JOBS}?fieldValidation=Strict`, odd);
      assert.equal(strict.status, 400);
      assert.match(strict.json<Failure>().message, /strict decoding error: unknown field "spec.foo", unknown field/);
    }));

  it('refuses wrong types with the words of a Go decoder', () =>
    withApiServer({}, async (server) => {
      const answer = await server.request('POST', JOBS, job({ backoffLimit: 'no' }));
      assert.equal(answer.status, 400);
      assert.equal(
        answer.json<Failure>().message,
        'Job in version "v1" cannot be handled as a Job: json: cannot unmarshal string into Go struct field JobSpec.spec.backoffLimit of type int32',
      );
      for (const body of ['[]', '"x"', '{', 'null']) {
        assert.equal((await server.request('POST', JOBS, body)).status, 400, body);
      }
      const foreign = await server.request('POST', JOBS, { apiVersion: 'batch/v1', kind: 'CronJob' });
      assert.match(foreign.json<Failure>().message, /^CronJob in version "v1" cannot be handled as a Job/);
    }));

  it('names every field that is wrong', () =>
    withApiServer({}, async (server) => {
      const bad = {
        ...job(
          { backoffLimit: -1 },
          {
            restartPolicy: 'Always',
            volumes: [{ name: 'V', emptyDir: {} }],
            containers: [
              {
                name: 'a',
                image: 'b',
                env: [{ name: 'a=b' }, { name: 'ok', valueFrom: { secretKeyRef: { name: 's', key: '' } } }],
                volumeMounts: [{ name: 'none', mountPath: '/x', subPath: '../y' }],
              },
              { name: 'a', image: '' },
            ],
          },
        ),
        metadata: { name: 'X_y', labels: { 'a b': 'c d' } },
      };
      const answer = await server.request('POST', JOBS, bad);
      assert.equal(answer.status, 422);
      const { reason, details, message } = answer.json<Failure>();
      assert.equal(reason, 'Invalid');
      assert.match(message, /^Job\.batch "X_y" is invalid: \[metadata\.name: Invalid value: "X_y": a lowercase/);
      const container = 'spec.template.spec.containers';
      assert.deepEqual(
        details?.causes?.map(({ field }) => field),
        [
          'metadata.name',
          'metadata.labels',
          'metadata.labels',
          'spec.backoffLimit',
          'spec.template.spec.volumes[0].name',
          `${container}[0].env[0].name`,
          `${container}[0].env[1].valueFrom.secretKeyRef.key`,
          `${container}[0].volumeMounts[0].name`,
          `${container}[0].volumeMounts.subPath`,
          `${container}[1].name`,
          `${container}[1].image`,
          'spec.template.spec.restartPolicy',
        ],
      );
    }));

  it('takes a Secret of 1,048,576 bytes and not one more', () =>
    withApiServer({}, async (server) => {
      const post = (bytes: number, name: string) =>
        server.request('POST', SECRETS, { metadata: { name }, data: { a: Buffer.alloc(bytes).toString('base64') } });
      assert.equal((await post(1_048_576, 'fits')).status, 201);
      const answer = await post(1_048_577, 'more');
      assert.equal(answer.status, 422);
      assert.match(answer.text, /data: Too long: may not be more than 1048576 bytes/);
      const wrong = await server.request('POST', SECRETS, { metadata: { name: 's' }, data: { a: 'b!' } });
      assert.match(wrong.text, /illegal base64 data at input byte 1/);
      const key = await server.request('POST', SECRETS, { metadata: { name: 's' }, data: { 'a/b': 'YQ==' } });
      assert.equal(key.status, 422);
    }));

  it('makes a name from generateName, and stores stringData as data', () =>
    withApiServer({}, async (server) => {
      const body = { metadata: { generateName: 's-' }, stringData: { a: 'b' } };
      const secret = (await server.request('POST', SECRETS, body)).json<Secret>();
      assert.match(secret.metadata.name, /^s-[a-z0-9]{5}$/);
      assert.deepEqual(secret.data, { a: 'Yg==' });
    }));

  it('tells a name that is taken, a namespace that is not there and one that is not meant apart', () =>
    withApiServer({}, async (server) => {
      await expectStatus(server, SECRETS, { metadata: { name: 'a' } }, 201);
      await expectStatus(server, SECRETS, { metadata: { name: 'a' } }, 409, 'secrets "a" already exists');
      const nowhere = '/api/v1/namespaces/nope/secrets';
      await expectStatus(server, nowhere, { metadata: { name: 'a' } }, 404, 'namespaces "nope" not found');
      const message = 'the namespace of the provided object does not match the namespace sent on the request';
      await expectStatus(server, SECRETS, { metadata: { name: 'b', namespace: 'other' } }, 400, message);
      const namespaces = '/api/v1/namespaces';
      await expectStatus(server, namespaces, { metadata: { name: 'fresh' } }, 201);
      await expectStatus(server, '/api/v1/namespaces/fresh/secrets', { metadata: { name: 'a' } }, 201);
      await expectStatus(server, namespaces, { metadata: { name: 'A_b' } }, 422);
    }));

  it('is no way to reach a prototype', () =>
    withApiServer({}, async (server) => {
      const body = '{"metadata":{"name":"p","labels":{"__proto__":"x","constructor":"y"}},"data":{"__proto__":"YQ=="}}';
      const answer = await server.request('POST', SECRETS, body);
      assert.equal(answer.status, 422, answer.text);
      assert.equal(({} as Record<string, unknown>)['x'], undefined);
    }));
});

async function expectStatus(
  server: TestApiServer,
  path: string,
  body: unknown,
  status: number,
  message?: string,
): Promise<void> {
  const answer = await server.request('POST', path, body);
  assert.equal(answer.status, status, answer.text);
  if (message !== undefined) assert.equal(answer.json<Failure>().message, message);
}
