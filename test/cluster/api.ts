import https from 'node:https';
import http from 'node:http';
import { KubeConfig } from '@kubernetes/client-node';
import type { CoreV1Event, V1Job, V1Namespace, V1Pod, V1Secret } from '@kubernetes/client-node';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

export class ApiAnswerError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The cluster as its administrator sees it; nothing of the program under test is used to look at it. */
export class Api {
  readonly kubeconfig = new KubeConfig();
  readonly server: string;
  readonly #agent = new https.Agent({ keepAlive: false });

  constructor(file = process.env['KUBECONFIG']) {
    if (file === undefined || file === '') throw new Error('no cluster: run the tests with test/cluster/run');
    this.kubeconfig.loadFromFile(file);
    this.server = this.kubeconfig.getCurrentCluster()?.server ?? '';
  }

  get certificateAuthority(): string {
    const { caData, caFile } = this.kubeconfig.getCurrentCluster() ?? {};
    if (caData === undefined)
      throw new Error(`the kubeconfig names ${caFile ?? 'no authority'} instead of having its data`);
    return caData;
  }

  /** Any status; rejects when there is no answer. */
  async request<T>(method: string, path: string, body?: object, type = 'application/json'): Promise<Answer<T>> {
    const url = new URL(this.server + path);
    const content = body === undefined ? '' : JSON.stringify(body);
    // Without the length Node sends a DELETE's body as if it had none, and the server does not see it.
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(content) };
    const options: https.RequestOptions = { method, agent: this.#agent, headers };
    await this.kubeconfig.applyToHTTPSOptions(options);
    return new Promise((resolve, reject) => {
      const request = (url.protocol === 'http:' ? http : https).request(url, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.startsWith('application/json') === true;
          resolve({ status: response.statusCode ?? 0, body: (isJson ? JSON.parse(text) : text) as T });
        });
      });
      request.setTimeout(30_000, () => request.destroy(new Error(`${method} ${path}: no answer in 30 s`)));
      request.on('error', reject);
      request.end(content);
    });
  }

  /** Rejects with ApiAnswerError for what is not a success. */
  async call<T>(method: string, path: string, body?: object, type?: string): Promise<T> {
    const answer = await this.request<T & { message?: string }>(method, path, body, type);
    if (answer.status < 300) return answer.body;
    throw new ApiAnswerError(answer.status, `${method} ${path}: ${answer.status} ${answer.body.message ?? ''}`);
  }

  get<T>(path: string): Promise<T> {
    return this.call('GET', path);
  }

  create<T>(path: string, body: object): Promise<T> {
    return this.call('POST', path, body);
  }

  async list<T>(path: string): Promise<readonly T[]> {
    return (await this.get<{ items: T[] | null }>(path)).items ?? [];
  }

  /** What is gone already is fine. */
  async remove(path: string, options: object = {}): Promise<void> {
    const { status } = await this.request('DELETE', path, options);
    if (status >= 300 && status !== 404) throw new ApiAnswerError(status, `DELETE ${path}: ${status}`);
  }

  pods(namespace: string): Promise<readonly V1Pod[]> {
    return this.list(`/api/v1/namespaces/${namespace}/pods`);
  }

  jobs(namespace: string): Promise<readonly V1Job[]> {
    return this.list(`/apis/batch/v1/namespaces/${namespace}/jobs`);
  }

  secrets(namespace: string): Promise<readonly V1Secret[]> {
    return this.list(`/api/v1/namespaces/${namespace}/secrets`);
  }

  events(namespace: string): Promise<readonly CoreV1Event[]> {
    return this.list(`/api/v1/namespaces/${namespace}/events`);
  }

  async log(namespace: string, pod: string, container: string, lines = 20): Promise<string> {
    const query = `container=${container}&tailLines=${lines}`;
    const { body } = await this.request<string | { message?: string }>(
      'GET',
      `/api/v1/namespaces/${namespace}/pods/${pod}/log?${query}`,
    );
    return typeof body === 'string' ? body : (body.message ?? '');
  }

  makeNamespace(name: string, labels: Readonly<Record<string, string>>): Promise<V1Namespace> {
    return this.create('/api/v1/namespaces', { metadata: { name, labels } });
  }
}
