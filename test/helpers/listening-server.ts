import { once } from 'node:events';
import type http from 'node:http';
import https from 'node:https';
import type net from 'node:net';

export interface ListeningServer {
  readonly url: string;
  readonly port: number;
  /** Connections that were ever made. */
  readonly connections: () => number;
  /** Connections that are open. */
  readonly open: () => number;
  /** Breaks every connection. */
  readonly close: () => Promise<void>;
}

/** Lets a server listen on a free port of loopback. */
export async function listening(server: http.Server | https.Server): Promise<ListeningServer> {
  const sockets = new Set<net.Socket>();
  let connections = 0;
  server.on('connection', (socket: net.Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `${server instanceof https.Server ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    connections: () => connections,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
