import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';

/** First byte of each message (remotecommand's protocol v4). What a client sends (0 input, 4 size of a terminal) has no meaning here. */
export const CHANNEL = { stdout: 1, stderr: 2, status: 3 } as const;
export type Channel = (typeof CHANNEL)[keyof typeof CHANNEL];

/** The server's end of an exec. */
export interface ExecChannels {
  /** One message. Resolves when there is room for more; false once the client is gone. */
  send(channel: Channel, chunk: Uint8Array): Promise<boolean>;
  /** A clean end, code 1000. */
  close(): void;
  /** Breaks the connection, so that the client sees a reset. */
  reset(): void;
  /** Aborted when the client is gone or the connection is closed. */
  readonly closed: AbortSignal;
}

export interface ExecUpgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What came after the request's head. */
  readonly head: Buffer;
  readonly answersPings: boolean;
}

/** In the order of preference. The two differ in what a client can say; neither client nor input is served here. */
const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
/** Of a client's message; it has little to say. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Whether the client offers a protocol that is spoken here. A real server answers 403 without a word where it does not. */
export function offersProtocol(request: IncomingMessage): boolean {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  return PROTOCOLS.some((protocol) => offered.includes(protocol));
}

/** Answers with 101. Never resolves for a request that is no WebSocket's: that one is answered with 4xx. */
export function acceptExec({ request, socket, head, answersPings }: ExecUpgrade): Promise<ExecChannels> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    autoPong: answersPings,
    handleProtocols: (offered) => PROTOCOLS.find((protocol) => offered.has(protocol)) ?? false,
  });
  return new Promise((resolve) => {
    server.handleUpgrade(request, socket, head, (client) => resolve(channelsOf(client, socket)));
  });
}

function channelsOf(client: WebSocket, socket: Duplex): ExecChannels {
  const closed = new AbortController();
  client.on('close', () => closed.abort());
  client.on('error', () => undefined);
  return {
    closed: closed.signal,
    send: async (channel, chunk) => {
      if (closed.signal.aborted) return false;
      client.send(Buffer.concat([Uint8Array.of(channel), chunk]));
      if (socket.writableNeedDrain) await drained(socket);
      return !closed.signal.aborted;
    },
    close: () => client.close(1000),
    reset: () => {
      closed.abort();
      // Of a server on TCP it is always one.
      (socket as Socket).resetAndDestroy();
    },
  };
}

function drained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.once('drain', done);
    socket.once('close', done);
  });
}
