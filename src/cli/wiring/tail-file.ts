import { open } from 'node:fs/promises';
import { isMissing } from '../../claim/disk-error.js';
import type { Clock } from '../../driver/clock.js';

/** How often a file is looked at that another process writes. */
const LOOK_MS = 200;
const BLOCK = 256 * 1024;

export interface Tail {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly show: (bytes: Buffer) => Promise<void>;
  /** Asked when all that is there has been shown; true: nothing more will be written. */
  readonly isOver: () => Promise<boolean>;
}

/** A file that has been shown up to `bytes`, still open: it may have lost its name meanwhile. */
export interface ShownFile {
  bytes: number;
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Undefined where there is no such file. Rejects with errno errors. */
export async function openShown(file: string): Promise<ShownFile | undefined> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  return {
    bytes: 0,
    read: async (position, length) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, (await handle.read(bytes, 0, length, position)).bytesRead);
    },
    close: () => handle.close(),
  };
}

/** Shows a file while it grows; ends when it is over, and shown whole, or when `signal` is aborted. */
export async function tailFile(file: ShownFile, { clock, signal, show, isOver }: Tail): Promise<void> {
  for (let over = false; !signal.aborted;) {
    const bytes = await file.read(file.bytes, BLOCK);
    if (bytes.length > 0) {
      file.bytes += bytes.length;
      await show(bytes);
    } else if (over) {
      return;
    } else {
      over = await isOver();
      if (!over) await clock.sleep(LOOK_MS, signal).catch(() => undefined);
    }
  }
}
