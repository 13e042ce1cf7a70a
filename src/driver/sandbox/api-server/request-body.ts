import type { IncomingMessage } from 'node:http';
import { ApiError, badRequest, bodyTooLarge } from './api-error.js';

/** As a real API server: 3 MiB. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** The JSON of a request; undefined when it has no body. Throws ApiError 400, 413 or 415. */
export async function jsonBody(request: IncomingMessage, accepted = 'application/json'): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  // What is too much is read all the same and dropped: an answer before the end of a request can be lost on its way.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (size > MAX_BODY_BYTES) throw bodyTooLarge(MAX_BODY_BYTES);
  if (size === 0) return undefined;
  const type = (request.headers['content-type'] ?? accepted).split(';')[0]?.trim();
  if (type !== accepted) {
    const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
    throw new ApiError(415, 'UnsupportedMediaType', message);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw badRequest("couldn't get version/kind; json parse error: the body is not JSON");
  }
}
