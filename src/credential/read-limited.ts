import { open, type FileHandle } from 'node:fs/promises';

/** A source of bytes that cannot be used. The message is a clause, `file /x does not exist`, and never holds a value. */
export class SourceProblem extends Error {
  override readonly name = 'SourceProblem';
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist: a part of its path is a file',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  EISDIR: 'is a folder',
  ELOOP: 'leads through too many symbolic links',
  ENAMETOOLONG: 'has a path that is too long',
};

/**
 * The whole of a file, byte for byte; also of a pipe such as `/dev/fd/63`, which has no size beforehand.
 * Rejects with SourceProblem where it cannot be read or holds more than `limit` bytes.
 */
export async function readLimited(path: string, limit: number): Promise<Buffer> {
  if (path.includes('\0')) throw new SourceProblem('the path holds a NUL byte');
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    return await readAll(file, path, limit);
  } catch (error) {
    if (error instanceof SourceProblem) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const home = code === 'ENOENT' && path.includes('/~/') ? ' ("~" is not expanded here: write $HOME)' : '';
    throw new SourceProblem(`file ${path} ${WORDS[code] ?? `cannot be read (${code})`}${home}`);
  } finally {
    await file?.close();
  }
}

async function readAll(file: FileHandle, path: string, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(64 * 1024));
    if (bytesRead === 0) return Buffer.concat(chunks, size);
    size += bytesRead;
    if (size > limit) throw new SourceProblem(`file ${path} is larger than ${limit} bytes`);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

/** All of a stream. Rejects with SourceProblem where it holds more than `limit` bytes. */
export async function readStream(
  stream: AsyncIterable<Uint8Array | string>,
  what: string,
  limit: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > limit) throw new SourceProblem(`${what} is larger than ${limit} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, size);
}
