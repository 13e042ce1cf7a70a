import http from 'node:http';
import type { ServerRecord } from './server-record.js';

/** A server on this machine answers in milliseconds or not at all; a busy one gets a second. */
const ANSWER_MS = 2_000;

/** Whether the server behind a record is there and takes its token. Never rejects. */
export function answers({ port, token }: Pick<ServerRecord, 'port' | 'token'>): Promise<boolean> {
  return new Promise((resolve) => {
    const request = http.get(
      {
        host: '127.0.0.1',
        port,
        path: '/version',
        agent: false,
        timeout: ANSWER_MS,
        headers: { authorization: `Bearer ${token}` },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
