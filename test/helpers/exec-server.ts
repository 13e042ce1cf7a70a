import http from 'node:http';
import https from 'node:https';
import type net from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { WebSocketServer, type WebSocket } from 'ws';
import { listening } from './listening-server.js';

export const STDOUT = 1;
export const STDERR = 2;
export const STATUS = 3;

/** An exec that a client asked for, before it is answered. */
export interface ExecCall {
  readonly command: readonly string[];
  /** What follows `send` in the command: a verb and its numbers. */
  readonly asked: string;
  readonly request: http.IncomingMessage;
  readonly socket: net.Socket;
  /** Answers 101 and sends the empty message with which every channel begins. */
  accept(options?: { readonly protocol?: string | false; readonly answersPings?: boolean }): Promise<ExecPeer>;
  /** Answers with something else. */
  refuse(status: number, body?: string, headers?: Readonly<Record<string, string>>): void;
}

export interface ExecPeer {
  readonly client: WebSocket;
  /** One message. Resolves when the socket has taken it. */
  send(channel: number, bytes: Uint8Array | string): Promise<void>;
  success(): Promise<void>;
  exit(code: number): Promise<void>;
  close(): void;
  reset(): void;
}

export type ExecAnswer = (call: ExecCall) => void | Promise<void>;

export interface ExecServer {
  readonly url: string;
  /** `asked` of every call, in order. */
  readonly asked: string[];
  readonly calls: readonly ExecCall[];
  readonly pings: () => number;
  /** Connections that are open. */
  readonly open: () => number;
  close(): Promise<void>;
}

const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** A real server on loopback that answers execs in order; the last answer for ever. Plain HTTP requests get a 404. */
export async function execServer(
  answers: ExecAnswer | readonly ExecAnswer[],
  tls?: https.ServerOptions,
): Promise<ExecServer> {
  const list = typeof answers === 'function' ? [answers] : answers;
  const calls: ExecCall[] = [];
  const asked: string[] = [];
  let pings = 0;
  const server = tls === undefined ? http.createServer() : https.createServer(tls);
  server.on('request', (_request, response) => response.writeHead(404).end());
  server.on('upgrade', (request: http.IncomingMessage, socket: net.Socket, head: Buffer) => {
    socket.on('error', () => undefined);
    const command = new URL(request.url ?? '', 'http://x').searchParams.getAll('command');
    let isTaken = false;
    const call: ExecCall = {
      command,
      asked: command.slice(4).join(' '),
      request,
      socket,
      accept: ({ protocol, answersPings = true } = {}) => {
        isTaken = true;
        const options = { noServer: true, perMessageDeflate: false, autoPong: answersPings } as const;
        const choose = (offered: Set<string>): string | false =>
          protocol ?? PROTOCOLS.find((name) => offered.has(name)) ?? false;
        return new Promise((resolve) => {
          new WebSocketServer({ ...options, handleProtocols: choose }).handleUpgrade(
            request,
            socket,
            head,
            (client) => {
              client.on('error', () => undefined);
              client.on('ping', () => pings++);
              const peer = peerOf(client, socket);
              for (const channel of [STDOUT, STDERR, STATUS]) void peer.send(channel, '');
              resolve(peer);
            },
          );
        });
      },
      refuse: (status, body = '', headers = {}) => {
        const lines = Object.entries({ 'content-length': String(Buffer.byteLength(body)), ...headers });
        const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
        socket.end(`HTTP/1.1 ${status} X\r\n${head}\r\n${body}`);
      },
    };
    const answer = list[Math.min(calls.length, list.length - 1)];
    calls.push(call);
    asked.push(call.asked);
    void answer?.(call);
    // A socket that nobody reads does not notice that the other side is gone; http's may be half open.
    if (!isTaken) socket.resume().on('end', () => socket.destroy());
  });
  const { url, open, close } = await listening(server);
  return { url, asked, calls, pings: () => pings, open, close };
}

function peerOf(client: WebSocket, socket: net.Socket): ExecPeer {
  const send = (channel: number, bytes: Uint8Array | string): Promise<void> =>
    new Promise((resolve) => {
      const content = Buffer.from(bytes as string);
      client.send(Buffer.concat([Uint8Array.of(channel), content]), { binary: true }, () => resolve());
    });
  return {
    client,
    send,
    success: () => send(STATUS, '{"metadata":{},"status":"Success"}'),
    exit: (code) =>
      send(
        STATUS,
        JSON.stringify({
          status: 'Failure',
          reason: 'NonZeroExitCode',
          message: `command terminated with non-zero exit code: exit status ${code}`,
          details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
        }),
      ),
    close: () => client.close(1000),
    reset: () => socket.resetAndDestroy(),
  };
}

/** Writes all of stdout in messages of 32 KiB, as a kubelet does. */
export async function write(peer: ExecPeer, bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length; from += 32_768) {
    await peer.send(STDOUT, bytes.subarray(from, from + 32_768));
    if (peer.client.readyState !== peer.client.OPEN) return;
  }
}

/** Accepts, writes `bytes`, says Success and closes. */
export function sends(bytes: Uint8Array | string): ExecAnswer {
  return async (call) => {
    const peer = await call.accept();
    await write(peer, Buffer.from(bytes as string));
    await peer.success();
    peer.close();
  };
}

/** A refusal as the API server words it. */
export function refuses(code: number, reason: string, message: string): ExecAnswer {
  const body = JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message });
  return (call) => call.refuse(code, body, { 'content-type': 'application/json' });
}

/** Waits until something holds, for as long as a test may take. */
export async function holds(what: () => boolean): Promise<void> {
  while (!what()) await turn();
}
