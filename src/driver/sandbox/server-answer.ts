import http from 'node:http';
import { join } from 'node:path';
import type { Clock } from '../clock.js';
import { ownerOf } from './process-identity.js';
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

/** How long a process that is there may be without an answer: stopped, or on a machine under load. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 250;

/**
 * Whether the server of a record is to be spoken to. One that is replaced takes the runs in it out of reach, so one that
 * only is slow is waited for. Never rejects.
 */
export async function lives(folder: string, record: ServerRecord, clock: Clock): Promise<boolean> {
  const end = clock.now() + PATIENCE_MS;
  for (;;) {
    if (await answers(record)) return true;
    if ((await ownerOf(join(folder, record.id))) !== 'alive' || clock.now() >= end) return false;
    await clock.sleep(PAUSE_MS);
  }
}
