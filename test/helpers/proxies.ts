import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Certificate } from './certificates.js';

export interface TestProxy {
  readonly port: number;
  /** `HOST:PORT` of every tunnel that was asked for. */
  readonly asked: { readonly path?: string | undefined; readonly authorization?: string | undefined }[];
  /** Connections that are open. */
  readonly sockets: ReadonlySet<net.Socket>;
  close(): void;
}

/** A CONNECT proxy that brings everybody to `port`, whatever name was asked for. */
export async function connectProxy(
  port: number,
  answer: 'tunnel' | 'silence' | number = 'tunnel',
  tls?: Certificate,
): Promise<TestProxy> {
  const asked: { path?: string | undefined; authorization?: string | undefined }[] = [];
  const proxy = tls === undefined ? http.createServer() : https.createServer({ cert: tls.cert, key: tls.key });
  proxy.on('connect', (request: http.IncomingMessage, socket: net.Socket) => {
    asked.push({ path: request.url, authorization: request.headers['proxy-authorization'] });
    socket.on('error', () => undefined);
    // http's server lets its sockets be half open.
    if (answer === 'silence') return void socket.resume().on('end', () => socket.destroy());
    if (answer !== 'tunnel') return void socket.end(`HTTP/1.1 ${answer} No\r\ncontent-length: 0\r\n\r\n`);
    bridge(socket, port, 'HTTP/1.1 200 OK\r\n\r\n');
  });
  return listening(proxy, asked);
}

/** A SOCKS 5 proxy (RFC 1928: no authentication, CONNECT by name) that does the same. */
export async function socksProxy(port: number): Promise<TestProxy> {
  const asked: { path: string }[] = [];
  const socks = net.createServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request: Buffer) => {
        const name = request.subarray(5, 5 + (request[4] ?? 0)).toString();
        asked.push({ path: `${name}:${request.readUInt16BE(request.length - 2)}` });
        bridge(socket, port, Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
      });
    });
  });
  return listening(socks, asked);
}

function bridge(socket: net.Socket, port: number, greeting: string | Buffer): void {
  const upstream = net.connect(port, '127.0.0.1', () => {
    socket.write(greeting);
    upstream.pipe(socket).pipe(upstream);
  });
  upstream.on('error', () => socket.destroy());
  socket.on('close', () => upstream.destroy());
}

async function listening(server: net.Server, asked: TestProxy['asked']): Promise<TestProxy> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as net.AddressInfo).port, asked, sockets, close };
}
