import type { Writable } from 'node:stream';
import { CnabError } from '../errors.js';

/**
 * Writes and waits until the stream has taken it.
 *
 * A reader that went away (`cnab list | head -1`) is no error: nobody is left to tell.
 * Rejects with CnabError `unavailable` when the bytes were refused (a full disk behind `> file`).
 */
export function write(stream: Writable, content: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(content, (error) => {
      if (!error || isGone(error)) resolve();
      else reject(new CnabError('unavailable', `cannot write the answer: ${error.message}`, { cause: error }));
    });
  });
}

/**
 * Lets a stream lose its reader or its disk without ending the process: each write hears of it by its callback. The
 * framework's listener, which throws what it does not know (ENOSPC) as if it were a bug, goes.
 */
export function tolerateLostReader(stream: Writable): void {
  stream.removeAllListeners('error');
  stream.on('error', () => {});
}

function isGone(error: Error): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
}
