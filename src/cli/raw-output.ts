import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { CnabError } from '../errors.js';
import type { Screen } from './surroundings.js';
import { write } from './write.js';

export interface RawOutput {
  /** For messages: `output "kubeconfig"`. */
  readonly what: string;
  readonly file: string;
  /** `sha256:…` as the record has it; absent in foreign records. */
  readonly digest?: string;
  /** Then no message tells a digest: that of a short secret tells the secret. */
  readonly sensitive: boolean;
  /** A command that puts the bytes into a file. */
  readonly redirect: string;
}

/**
 * Writes a file's bytes and nothing else. A terminal gets a final newline, and never anything that it would obey or
 * cannot show: that is refused with CnabError `invalid` before a byte is written.
 *
 * The bytes are compared with the recorded digest while they pass; a difference rejects with CnabError `outputs-incomplete` at
 * the end, so that a script does not go on with a damaged file.
 */
export async function writeRaw(output: RawOutput, screen: Screen): Promise<void> {
  const forTerminal = screen.isTTY === true;
  if (forTerminal) await refuseBinary(output);
  const hash = createHash('sha256');
  let last: number | undefined;
  for await (const chunk of createReadStream(output.file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    last = chunk.at(-1) ?? last;
    await write(screen, chunk);
    if (screen.destroyed || screen.errored) return;
  }
  if (forTerminal && last !== undefined && last !== 0x0a) await write(screen, '\n');
  const actual = `sha256:${hash.digest('hex')}`;
  if (output.digest !== undefined && /^sha256:[0-9a-f]{64}$/.test(output.digest) && output.digest !== actual) {
    throw new CnabError(
      'outputs-incomplete',
      `the stored ${output.what} is damaged: its bytes do not have the recorded digest`,
      {
        details: [...(output.sensitive ? [] : [`recorded ${output.digest}`, `found    ${actual}`]), output.file],
      },
    );
  }
}

async function refuseBinary(output: RawOutput): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let reason: string | undefined;
  try {
    for await (const chunk of createReadStream(output.file) as AsyncIterable<Buffer>) {
      if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/.test(decoder.decode(chunk, { stream: true }))) {
        reason = 'holds control characters';
        break;
      }
    }
    if (reason === undefined) decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    reason = 'is binary';
  }
  if (reason === undefined) return;
  throw new CnabError('invalid', `${output.what} ${reason} and is not shown on a terminal`, {
    suggestions: [`put it into a file: ${output.redirect}`],
  });
}
