import type { ClientRequestArgs } from 'node:http';
import { WebSocket } from 'ws';

/** All that an exec's client got, until its connection was closed. */
export interface ExecAnswer {
  /** Absent: the server did not switch to WebSocket. */
  readonly protocol?: string;
  /** Of the answer instead. */
  readonly status?: number;
  readonly text: string;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Parsed, of the status channel. */
  readonly end?: ExecEnd;
  /** 1000: a clean close; 1006: none. */
  readonly code: number;
  /** Channels in the order of the messages, empty ones as well. */
  readonly channels: readonly number[];
}

export interface ExecEnd {
  readonly status: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message: string }[] };
}

export interface ExecClientOptions {
  /** Absent: v5 and v4. */
  readonly protocols?: readonly string[];
  readonly http?: ClientRequestArgs;
  readonly onOpen?: (socket: WebSocket) => void;
  readonly onStdout?: (chunk: Buffer, socket: WebSocket) => void;
}

/** A client that believes everything: what the driver's own must not. Never rejects. */
export function execClient(url: string, options: ExecClientOptions = {}): Promise<ExecAnswer> {
  const { protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'], http, onOpen, onStdout } = options;
  return new Promise((resolve) => {
    const socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols], { ...http, perMessageDeflate: false });
    const got = new Map<number, Buffer[]>([1, 2, 3].map((channel) => [channel, []]));
    const channels: number[] = [];
    let refused: { status: number; text: string } | undefined;
    let isOpen = false;
    const bytes = (channel: number): Buffer => Buffer.concat(got.get(channel) ?? []);
    socket.on('open', () => {
      isOpen = true;
      onOpen?.(socket);
    });
    socket.on('message', (message: Buffer) => {
      const [channel = 0] = message;
      channels.push(channel);
      got.get(channel)?.push(message.subarray(1));
      if (channel === 1 && message.length > 1) onStdout?.(message.subarray(1), socket);
    });
    socket.on('unexpected-response', (_request, response) => {
      refused = { status: response.statusCode ?? 0, text: '' };
      response.on('data', (chunk: Buffer) => (refused = { ...refused!, text: refused!.text + chunk.toString() }));
      response.on('close', () => socket.terminate());
    });
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      const end = bytes(3).toString();
      resolve({
        text: '',
        ...refused,
        ...(isOpen ? { protocol: socket.protocol } : {}),
        stdout: bytes(1),
        stderr: bytes(2),
        ...(end === '' ? {} : { end: JSON.parse(end) as ExecEnd }),
        code,
        channels,
      });
    });
  });
}

/** Path and query of an exec, with both outputs. */
export function execPath(podPath: string, container: string, command: readonly string[]): string {
  const query = new URLSearchParams({ container, stdout: '1', stderr: '1' });
  for (const word of command) query.append('command', word);
  return `${podPath}/exec?${query.toString()}`;
}
