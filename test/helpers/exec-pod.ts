import { createHash } from 'node:crypto';
import { entryText, MAGIC, sealOf, type ManifestEntry } from '../../src/frame/grammar.js';
import { write, type ExecAnswer, type ExecPeer } from './exec-server.js';
import { RUN_ID } from './operation.js';

const SALT = '5a'.repeat(32);

export interface PodFile {
  /** What the manifest says of it is of these bytes. */
  readonly bytes: Buffer;
  readonly sealed?: boolean;
  /** What is there now, if it is something else. */
  now?: Buffer;
}

/** A pod that holds outputs after its manifest, and answers execs as `send.sh` does. An absent file was not written. */
export class ExecPod {
  /** What went wrong with the answer to an exec, by its number; set by a test. */
  readonly faults = new Map<number, (peer: ExecPeer, bytes: Buffer) => Promise<void>>();
  isDone = false;
  #execs = 0;

  constructor(private readonly files: readonly (PodFile | undefined)[]) {}

  /** The log up to the manifest. */
  get log(): Buffer {
    const entries = this.files.map((file, index): ManifestEntry => {
      if (file === undefined) return { kind: 'missing', index };
      const size = file.bytes.length;
      const sha256 = digestOf(file.bytes);
      return file.sealed === true
        ? { kind: 'sealed', index, size, seal: sealOf(SALT, index, sha256) }
        : { kind: 'file', index, size, sha256 };
    });
    const texts = entries.map(entryText);
    const digest = digestOf(Buffer.from(texts.map((text) => `${text}\n`).join('')));
    const lines = [...texts, `manifest ${texts.length} ${digest}`];
    return Buffer.from(lines.map((text) => `${MAGIC} ${RUN_ID} 1 ${text} .\n`).join(''));
  }

  readonly answer: ExecAnswer = async (call) => {
    const number = this.#execs++;
    const [verb, ...numbers] = call.asked.split(' ');
    const bytes = this.#answerTo(verb, numbers.map(Number));
    const peer = await call.accept();
    const fault = this.faults.get(number);
    if (typeof bytes === 'number') await peer.exit(bytes);
    else if (fault !== undefined) return fault(peer, bytes);
    else {
      await write(peer, bytes);
      await peer.success();
    }
    peer.close();
  };

  #answerTo(verb: string | undefined, [index = 0, a = 0, b = 0]: number[]): Buffer | number {
    if (verb === 'salt') return Buffer.from(`${SALT}\n`);
    if (verb === 'done') {
      this.isDone = true;
      return Buffer.alloc(0);
    }
    if (verb === 'files') {
      const files = this.files.slice(index, a + 1).filter((file) => file !== undefined);
      const changed = files.some(({ bytes, now }) => now !== undefined && now.length !== bytes.length);
      return changed ? 3 : Buffer.concat(files.map(({ bytes, now }) => now ?? bytes));
    }
    const file = this.files[index];
    if (file === undefined) return 2;
    if (file.now?.length === 0) return 3;
    const range = (file.now ?? file.bytes).subarray(a, a + b);
    if (verb === 'range') return range;
    return verb === 'digest' ? Buffer.from(`${digestOf(range)}\n`) : 2;
  }
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
