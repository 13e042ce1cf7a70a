import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type tls from 'node:tls';
import { KubernetesApi } from '../../src/driver/kubernetes/api.js';
import { connectWithKubeconfig } from '../../src/driver/kubernetes/client.js';
import type { KubeconfigConnectionOptions } from '../../src/driver/kubernetes/client.js';
import type { Connection } from '../../src/driver/kubernetes/connection.js';
import { TestAuthority } from './certificates.js';
import type { Certificate } from './certificates.js';
import { httpPeer, json } from './http-peer.js';
import type { Answer, HttpPeer } from './http-peer.js';

export interface Seen {
  readonly subject: { readonly CN?: string };
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers with the subject of the client's certificate and the headers, as the server sees them. */
export const whoami: Answer = (request, response) => {
  const peer = (request.socket as tls.TLSSocket).getPeerCertificate();
  json({ subject: peer.subject, headers: request.headers })(request, response, '');
};

export function ask(api: KubernetesApi): Promise<Seen> {
  return api.get<Seen>('/whoami', { doing: 'ask', signal: new AbortController().signal, attempts: 1 });
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A folder with an authority (`ca.crt`), certificates and kubeconfigs, and the servers and connections of a test. */
export class TlsCluster {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'cnab-client-'));
  readonly ca = new TestAuthority(this.folder);
  readonly server = this.ca.issue('server', ['IP:127.0.0.1', 'DNS:cluster.test']);
  private readonly open: { close: () => unknown }[] = [];
  private configs = 0;

  async serve(answers: Answer | readonly Answer[], { cert, key }: Certificate = this.server): Promise<HttpPeer> {
    const peer = await httpPeer(answers, { cert, key, ca: this.ca.ca, requestCert: true, rejectUnauthorized: false });
    return this.closeLater(peer);
  }

  /** Connects by a kubeconfig whose context `test` names this cluster and, where there is one, this user as `alice`. */
  async connect(
    cluster: object,
    user: object | undefined,
    { inContext, ...more }: Partial<KubeconfigConnectionOptions> & { readonly inContext?: object } = {},
  ): Promise<{ readonly connection: Connection; readonly api: KubernetesApi }> {
    const file = path.join(this.folder, `config-${this.configs++}`);
    const context = { cluster: 'c', ...(user === undefined ? {} : { user: 'alice' }), ...inContext };
    const config = {
      'current-context': 'test',
      clusters: [{ name: 'c', cluster }],
      users: user === undefined ? [] : [{ name: 'alice', user }],
      contexts: [{ name: 'test', context }],
    };
    writeFileSync(file, JSON.stringify(config));
    const connection = await connectWithKubeconfig({ kubeconfig: file, env: {}, home: '/nonexistent', ...more });
    this.closeLater(connection);
    return { connection, api: new KubernetesApi(connection) };
  }

  closeLater<T extends { close: () => unknown }>(thing: T): T {
    this.open.push(thing);
    return thing;
  }

  async closeAll(): Promise<void> {
    for (const thing of this.open.splice(0).reverse()) await thing.close();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
