import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { CnabError } from '../../../src/errors.js';
import { KubernetesApi } from '../../../src/driver/kubernetes/api.js';
import { plainConnection } from '../../../src/driver/kubernetes/connection.js';
import { parseForbidden, suggestionsForDenial } from '../../../src/driver/kubernetes/denial.js';
import {
  AbortError,
  KubernetesError,
  retryAfterMs,
  statusError,
  toKubernetesError,
} from '../../../src/driver/kubernetes/kubernetes-error.js';
import { parseWarnings } from '../../../src/driver/kubernetes/warning-header.js';
import { ManualClock } from '../../helpers/manual-clock.js';

const peer = { server: 'https://10.0.0.1:6443', context: 'prod', user: 'alice' };

function refused(statusCode: number, message: string | Buffer, headers: Record<string, string> = {}): KubernetesError {
  const body = typeof message === 'string' ? JSON.stringify({ kind: 'Status', reason: 'R', message }) : message;
  return statusError({ statusCode, headers, body: Buffer.from(body) }, 'create job a', peer, 0);
}

function broken(code: string, message = 'm', name = 'Error'): Error {
  return Object.assign(new Error(message), { code, name });
}

describe('toKubernetesError', () => {
  it('lets bugs, aborts and what is explained already through as they are', () => {
    for (const error of [
      new TypeError('x'),
      new RangeError('y'),
      new AbortError(),
      new CnabError('busy', 'z'),
      'text',
      undefined,
    ]) {
      assert.equal(toKubernetesError(error, 'get it', peer), error);
    }
  });

  it('says of every network trouble in one sentence what it is and what to do', () => {
    const cases: readonly [string, RegExp][] = [
      ['ECONNREFUSED', /: https:\/\/10.0.0.1:6443 refused the connection$/],
      ['ENOTFOUND', /: the name of https:\S+ cannot be resolved \(m\)$/],
      ['EAI_AGAIN', /cannot be resolved/],
      ['ETIMEDOUT', /did not answer in time/],
      ['ECONNRESET', /the connection to https:\S+ broke \(m\)$/],
      ['EHOSTUNREACH', /cannot be reached/],
      ['SELF_SIGNED_CERT_IN_CHAIN', /is not signed by a known CA/],
      ['CERT_HAS_EXPIRED', /has expired$/],
      ['CERT_NOT_YET_VALID', /is not valid yet$/],
      ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', /no TLS connection/],
      ['HPE_INVALID_CONSTANT', /does not speak HTTP/],
      ['ERR_OSSL_PEM_NO_START_LINE', /are not usable/],
    ];
    for (const [code, sentence] of cases) {
      const error = toKubernetesError(broken(code), 'get it', peer);
      assert.ok(error instanceof KubernetesError, code);
      assert.match(error.message, /^cannot get it: .+$/);
      assert.match(error.message, sentence);
      assert.ok(error.suggestions.length > 0, code);
      assert.equal(error.code, code.startsWith('ERR_OSSL') ? 'invalid' : 'unavailable');
    }
  });

  it('names the context when it asks whether it was the right cluster', () => {
    const error = toKubernetesError(broken('ECONNREFUSED'), 'get it', peer) as KubernetesError;
    assert.deepEqual(error.suggestions, ['Is the cluster running, and is it the one that was meant (context prod)?']);
  });

  it('keeps OpenSSL’s reason only, in one line', () => {
    const message = '40F7:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../ssl/record.c:354:\n';
    const error = toKubernetesError(broken('EPROTO', message), 'get it', peer) as KubernetesError;
    assert.equal(error.message, 'cannot get it: no TLS connection to https://10.0.0.1:6443 (wrong version number)');
  });

  it('knows the troubles that Node really has', async () => {
    const server = net
      .createServer(
        (socket) =>
          void socket
            .on('error', () => undefined)
            .resume()
            .end('220 mail\r\n'),
      )
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = (server.address() as net.AddressInfo).port;
    const clock = new ManualClock(20_000);
    const signal = new AbortController().signal;
    const ask = (target: number): Promise<unknown> => {
      const connection = plainConnection({ server: `http://127.0.0.1:${target}` });
      return new KubernetesApi(connection, { clock })
        .get('/x', { doing: 'ask', signal })
        .finally(() => connection.close());
    };
    await assert.rejects(ask(port), /what answers at http:\S+ does not speak HTTP/);
    server.close();
    await once(server, 'close');
    await assert.rejects(ask(port), /refused the connection/);
  });
});

describe('statusError', () => {
  it('names verb, resource and namespace of what is forbidden, in the server’s words', () => {
    const sentence =
      'jobs.batch is forbidden: User "alice" cannot create resource "jobs" in API group "batch" in the namespace "payments"';
    const error = refused(403, sentence);
    assert.equal(error.message, `cannot create job a: ${sentence}`);
    assert.equal(error.serverMessage, sentence);
    assert.deepEqual(error.suggestions, [
      'A Role in namespace payments must allow: create on jobs.batch.',
      'Check with: kubectl auth can-i create jobs.batch -n payments --context prod',
    ]);
    assert.equal(error.transient, false);
  });

  it('has no code that claims an exit code of another meaning', () => {
    for (const status of [400, 401, 403, 404, 409, 410, 429, 500, 503])
      assert.equal(refused(status, 'm').code, 'unavailable');
    for (const status of [413, 422]) assert.equal(refused(status, 'm').code, 'invalid');
  });

  it('shows a short text of a proxy or load balancer, but no page and no control characters', () => {
    assert.match(refused(503, Buffer.from('no\u001b[31m backend\n')).message, /answered 503: no \[31m backend$/);
    assert.match(refused(502, Buffer.from('<html>')).message, /answered 502: HTTP 502$/);
    assert.match(refused(500, Buffer.from([])).message, /answered 500: HTTP 500$/);
  });

  it('reads Retry-After in seconds and as a date', () => {
    assert.equal(retryAfterMs('7', 0), 7000);
    assert.equal(retryAfterMs('Thu, 01 Jan 1970 00:00:09 GMT', 4000), 5000);
    assert.equal(retryAfterMs('Thu, 01 Jan 1970 00:00:01 GMT', 4000), 0);
    for (const none of [undefined, '', 'soon']) assert.equal(retryAfterMs(none, 0), undefined);
  });
});

describe('suggestionsForDenial', () => {
  it('has one for each refusal that a run meets, and none for others', () => {
    const known: readonly [string, RegExp][] = [
      ['pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1', /quota/],
      ['pods "a" is forbidden: failed quota: q: must specify limits.cpu for: invocation', /--pod-patch/],
      ['pods "a" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi', /LimitRange/],
      ['pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true', /Pod Security/],
      ['unable to create new content in namespace x because it is being terminated', /--namespace/],
      ['namespaces "x" not found', /--create-namespace/],
      ['admission webhook "policy" denied the request: no', /policy of the cluster/],
      ['Internal error occurred: failed calling webhook "w": timeout', /webhook/],
      [
        'pods "a" is forbidden: error looking up service account x/y: serviceaccount "y" not found',
        /--service-account/,
      ],
    ];
    for (const [message, suggestion] of known) assert.match(suggestionsForDenial(message).join(), suggestion, message);
    assert.deepEqual(suggestionsForDenial('jobs.batch "a" not found'), []);
  });

  it('reads subresources, the core group and the cluster scope', () => {
    assert.deepEqual(
      parseForbidden('User "a \\"b\\"" cannot get resource "pods/log" in API group "" in the namespace "x"'),
      { user: 'a \\"b\\"', verb: 'get', resource: 'pods/log', namespace: 'x' },
    );
    assert.deepEqual(
      parseForbidden('User "a" cannot create resource "namespaces" in API group "" at the cluster scope'),
      {
        user: 'a',
        verb: 'create',
        resource: 'namespaces',
      },
    );
    assert.equal(parseForbidden('forbidden'), undefined);
  });
});

describe('parseWarnings', () => {
  it('gives each text once and skips what has another form', () => {
    assert.deepEqual(parseWarnings('299 - "a, \\"b\\"", 299 kube "c", 199 - "d", 299 - "c"'), ['a, "b"', 'c']);
    assert.deepEqual(parseWarnings(undefined), []);
    assert.deepEqual(parseWarnings('299 - "unclosed'), []);
  });
});
