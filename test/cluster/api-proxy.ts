import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Case } from './case.js';
import { writeKubeconfig } from './user.js';

export interface Call {
  readonly method: string;
  readonly url: string;
}

/**
 * Stands between a command and the real API server, so that something can happen between two of its requests.
 * Plain HTTP on loopback; it adds the administrator's credentials.
 */
export class ApiProxy {
  readonly calls: Call[] = [];
  /** Asked before a request goes on: resolves when it may; `reset` breaks the connection instead. */
  onCall: (call: Call) => Promise<'reset' | void> | void = () => {};
  /** Told of what passes in the answers, as it passes. */
  onData: (call: Call, text: string) => void = () => {};
  /** Asked when the server has acted, before its answer goes on. */
  onAnswer: (call: Call) => 'reset' | undefined = () => undefined;
  #hold: { readonly call: RegExp; readonly from: RegExp } | undefined;

  private constructor(
    private readonly one: Case,
    private readonly server: http.Server,
  ) {}

  static async start(one: Case): Promise<ApiProxy> {
    const server = http.createServer();
    const proxy = new ApiProxy(one, server);
    server.on('request', (request, response) => void proxy.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    one.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    return proxy;
  }

  /** A kubeconfig that leads through here. */
  kubeconfig(): string {
    const { port } = this.server.address() as AddressInfo;
    return writeKubeconfig(this.one, 'proxy', {}, `http://127.0.0.1:${port}`);
  }

  /** From the text `from` on, answers to calls like this are held back for good. */
  holdBack(call: RegExp, from: RegExp): void {
    this.#hold = { call, from };
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const call = { method: request.method ?? '', url: request.url ?? '' };
    this.calls.push(call);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if ((await this.onCall(call)) === 'reset') {
      request.socket.destroy();
      return;
    }
    const headers = { ...request.headers };
    delete headers.host;
    const options: https.RequestOptions = { method: call.method, headers, agent: false };
    await this.one.api.kubeconfig.applyToHTTPSOptions(options);
    const upstream = https.request(this.one.api.server + call.url, { ...options, agent: false }, (answer) => {
      if (this.onAnswer(call) === 'reset') {
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      let held = false;
      answer.on('data', (chunk: Buffer) => {
        const hold = this.#hold;
        const text = chunk.toString('latin1');
        held ||= hold !== undefined && hold.call.test(call.url) && hold.from.test(text);
        this.onData(call, text);
        if (!held) response.write(chunk);
      });
      answer.on('end', () => void (held || response.end()));
      answer.on('error', () => response.destroy());
    });
    upstream.on('error', () => request.socket.destroy());
    response.on('close', () => upstream.destroy());
    upstream.end(Buffer.concat(chunks));
  }
}
