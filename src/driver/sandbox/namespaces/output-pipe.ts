import { close, constants, open } from 'node:fs';
import { chown, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { mustRun } from './run-program.js';

/** A pipe for a container's output. */
export interface OutputPipe {
  /** Descriptor to hand to the child; `closeWriter` when it has it, or the end never comes. */
  readonly writer: number;
  closeWriter(): Promise<void>;
  readonly reader: Socket;
}

// Plain descriptors: a FileHandle would close the one that the socket has taken over, when it is collected.
const openDescriptor = promisify(open);
const closeDescriptor = promisify(close);

/**
 * Named pipes, whose names are gone at once: what node gives a child by itself is a socket, and a script that opens
 * /dev/stderr gets ENXIO from a socket. `owner`: uid that may open them again by that name.
 */
export async function openPipes(paths: readonly string[], owner: number | undefined): Promise<OutputPipe[]> {
  await mustRun(['mkfifo', '-m', '0600', '--', ...paths]);
  return Promise.all(
    paths.map(async (path) => {
      if (owner !== undefined) await chown(path, owner, owner);
      const reader = await openDescriptor(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const writer = await openDescriptor(path, constants.O_WRONLY);
      await rm(path);
      return {
        writer,
        closeWriter: () => closeDescriptor(writer),
        reader: new Socket({ fd: reader, readable: true, writable: false }),
      };
    }),
  );
}
