import http from 'node:http';
import https from 'node:https';
import { listening, type ListeningServer } from './listening-server.js';

export type Answer = (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void;

export interface HttpPeer extends ListeningServer {
  /** `METHOD path` of every request, in order. */
  readonly seen: string[];
  readonly headers: http.IncomingHttpHeaders[];
  readonly bodies: string[];
}

/** A real server on loopback that gives the answers in order; the last one for ever. */
export async function httpPeer(answers: Answer | readonly Answer[], tls?: https.ServerOptions): Promise<HttpPeer> {
  const list = typeof answers === 'function' ? [answers] : answers;
  const seen: string[] = [];
  const headers: http.IncomingHttpHeaders[] = [];
  const bodies: string[] = [];
  const onRequest: http.RequestListener = (request, response) => {
    const answer = list[Math.min(seen.length, list.length - 1)];
    const index = seen.push(`${request.method} ${request.url}`) - 1;
    headers.push(request.headers);
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies[index] = Buffer.concat(chunks).toString('utf8');
      answer?.(request, response, bodies[index]);
    });
  };
  const server = tls === undefined ? http.createServer(onRequest) : https.createServer(tls, onRequest);
  return { seen, headers, bodies, ...(await listening(server)) };
}

export function json(body: unknown, status = 200, headers: http.OutgoingHttpHeaders = {}): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

/** A refusal as the API server words it. */
export function refusal(code: number, reason: string, message: string, headers: http.OutgoingHttpHeaders = {}): Answer {
  return json({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }, code, headers);
}

export function text(body: string | Buffer, status = 200, type = 'text/plain'): Answer {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  };
}

/** Writes `body` and breaks the connection off with a reset. */
export function cutAfter(body: string | Buffer, type = 'text/plain'): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': type });
    response.write(body, () => setImmediate(() => response.socket?.resetAndDestroy()));
    response.flushHeaders();
  };
}

export const reset: Answer = (request) => {
  request.socket.resetAndDestroy();
};

/** Takes the request and says nothing, or says `body` and then nothing. */
export function stall(body?: string | Buffer): Answer {
  return (_request, response) => {
    if (body === undefined) return;
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write(body);
    response.flushHeaders();
  };
}
