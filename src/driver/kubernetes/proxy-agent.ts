import http from 'node:http';
import https from 'node:https';
import type net from 'node:net';
import tls from 'node:tls';

type Callback = (error: Error | null, socket?: net.Socket) => void;

interface Target extends tls.ConnectionOptions {
  readonly host?: string;
  readonly port?: number;
}

const CONNECT_MS = 30_000;

/** The proxy did not open a tunnel. `code` is for the explanation of network errors. */
class ProxyError extends Error {
  override readonly name = 'ProxyError';
  readonly code = 'PROXY';
}

/**
 * An agent that reaches API servers through an HTTP(S) proxy's CONNECT. (hpagent, which client-node would take, keeps
 * no socket alive, writes IPv6 addresses without brackets and leaves a socket behind when the proxy does not answer.)
 */
export function proxyAgent(proxy: URL, scheme: 'http:' | 'https:'): http.Agent & { destroy(): void } {
  const agent = scheme === 'https:' ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  const opening = new Set<http.ClientRequest>();
  const createConnection = (options: Target, callback: Callback): void => {
    const request = connectRequest(proxy, options);
    opening.add(request);
    const done: Callback = (error, socket) => {
      opening.delete(request);
      callback(error, socket);
    };
    request.setTimeout(CONNECT_MS, () =>
      request.destroy(new ProxyError(`the proxy ${proxy.host} did not answer within ${CONNECT_MS / 1000} s`)),
    );
    request.once('connect', (response, socket: net.Socket, head: Buffer) => {
      socket.setTimeout(0);
      if (response.statusCode !== 200) {
        socket.destroy();
        done(new ProxyError(refusal(proxy, response.statusCode ?? 0)));
        return;
      }
      if (head.length > 0) socket.unshift(head);
      done(null, scheme === 'https:' ? tls.connect({ ...options, socket, ...serverName(options) }) : socket);
    });
    request.once('response', (response) => {
      response.destroy();
      done(new ProxyError(refusal(proxy, response.statusCode ?? 0)));
    });
    request.once('error', (error) => {
      done(
        error instanceof ProxyError
          ? error
          : new ProxyError(`the proxy ${proxy.host} cannot be reached (${error.message})`, { cause: error }),
      );
    });
    request.end();
  };
  const destroy = agent.destroy.bind(agent);
  return Object.assign(agent, {
    createConnection,
    destroy: () => {
      for (const request of opening) request.destroy(new ProxyError('the connection was closed'));
      destroy();
    },
  });
}

function connectRequest(proxy: URL, target: Target): http.ClientRequest {
  const host = target.host ?? 'localhost';
  const authority = `${host.includes(':') ? `[${host}]` : host}:${target.port ?? 443}`;
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const options = {
    method: 'CONNECT',
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port === '' ? (proxy.protocol === 'https:' ? 443 : 80) : Number(proxy.port),
    path: authority,
    agent: false,
    setHost: false,
    headers: {
      host: authority,
      ...(credentials === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
  } as const;
  return proxy.protocol === 'https:' ? https.request(options) : http.request(options);
}

function serverName(options: Target): { servername?: string } {
  const name = options.servername ?? options.host;
  // An IP address cannot be a server name in TLS; Node warns about it.
  return name === undefined || /^[\d.]+$|:/.test(name) ? {} : { servername: name };
}

function refusal(proxy: URL, status: number): string {
  return status === 407
    ? `the proxy ${proxy.host} asks for a user name and password (407)`
    : `the proxy ${proxy.host} answered ${status}`;
}
