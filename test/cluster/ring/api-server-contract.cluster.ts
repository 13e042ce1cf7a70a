import { randomBytes } from 'node:crypto';
import https from 'node:https';
import { contractCases } from '../../helpers/api-server-contract-cases.js';
import { execContractCases } from '../../helpers/api-server-contract-exec-cases.js';
import { resourceContractCases } from '../../helpers/api-server-contract-resource-cases.js';
import { contentTypeOf } from '../../helpers/api-server.js';
import { eachLine, type ContractCluster, type RawAnswer } from '../../helpers/api-server-contract.js';
import { execClient, type ExecAnswer, type ExecClientOptions } from '../../helpers/exec-client.js';
import { Api } from '../api.js';
import { eventually } from '../eventually.js';

const suffix = randomBytes(5).toString('hex');
const namespace = `cnab-test-${suffix}`;
const restricted = `cnab-test-${suffix}-strict`;
let api: Api;

before(async () => {
  api = new Api();
  await api.makeNamespace(namespace, { 'cnab-test': 'case' });
  await api.makeNamespace(restricted, { 'cnab-test': 'case', 'pod-security.kubernetes.io/enforce': 'restricted' });
  for (const name of [namespace, restricted]) {
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    await eventually('the default service account', 30, async () => (await api.request('GET', path)).status === 200);
  }
});

after(async () => {
  for (const name of [namespace, restricted]) {
    await api.remove(`/api/v1/namespaces/${name}/pods`, { gracePeriodSeconds: 1 });
    await api.remove(`/api/v1/namespaces/${name}`);
  }
});

const cluster = (): ContractCluster => {
  return {
    namespace,
    restricted,
    image: 'docker.io/library/busybox:1.37.0',
    mergesStatuses: true,
    request,
    stream,
    exec,
  };
};

contractCases('what a cluster has in common with the sandbox', cluster);
resourceContractCases('what can be found and read back in a cluster', cluster);
execContractCases('an exec into a container of a cluster', cluster);

/** The answer as it is, not yet parsed. */
async function send(method: string, path: string, body?: object): Promise<[https.RequestOptions, URL, string]> {
  const content = body === undefined ? '' : JSON.stringify(body);
  const headers = { 'content-type': contentTypeOf(method), 'content-length': Buffer.byteLength(content) };
  const options: https.RequestOptions = { method, headers, agent: new https.Agent() };
  await api.kubeconfig.applyToHTTPSOptions(options);
  return [options, new URL(api.server + path), content];
}

async function request(method: string, path: string, body?: object): Promise<RawAnswer> {
  const [options, url, content] = await send(method, path, body);
  return new Promise((resolve, reject) => {
    const sent = https.request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on('error', reject);
    sent.end(content);
  });
}

async function stream(path: string, line: (text: string) => void): Promise<() => void> {
  const [options, url] = await send('GET', path);
  return new Promise((resolve, reject) => {
    const sent = https.get(url, options, (response) => {
      eachLine(response, line);
      resolve(() => sent.destroy());
    });
    sent.on('error', reject);
  });
}

async function exec(path: string, options: ExecClientOptions = {}): Promise<ExecAnswer> {
  const [http, url] = await send('GET', path);
  const { method: _method, headers: _headers, agent: _agent, ...tls } = http;
  return execClient(url.href, { ...options, http: tls });
}
