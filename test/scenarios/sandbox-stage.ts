import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRecord } from '../../src/driver/sandbox/server-record.js';
import { removeHome, runCnab, temporaryHome, type Ran } from '../helpers/run-cnab.js';

export interface SandboxBundle {
  /** Text of /cnab/app/run after its first line, for bash. */
  readonly run: string;
  /** Name of each output and its path below /cnab/app/outputs. */
  readonly outputs: Readonly<Record<string, string>>;
  readonly sensitive?: readonly string[];
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface Acted extends Ran {
  readonly document: {
    readonly status: string;
    readonly ran: string;
    readonly exitCode?: number;
    readonly outputs: readonly { readonly name: string; readonly size: number; readonly sha256: string }[];
    readonly error?: { readonly message: string; readonly details?: readonly string[] };
  };
}

/** A home of its own with the built command and its sandbox. */
export class SandboxStage {
  readonly home = temporaryHome();

  constructor() {
    // A bundle runs as a user who owns nothing.
    chmodSync(this.home, 0o755);
  }

  bundle({ run, outputs, sensitive = [], more = {} }: SandboxBundle): string {
    const folder = join(this.home, 'bundle');
    mkdirSync(join(folder, 'cnab/app'), { recursive: true });
    writeFileSync(join(folder, 'cnab/app/run'), `#!/bin/bash\n${run}`, { mode: 0o755 });
    const entries = Object.entries(outputs).map(([name, path]) => [
      name,
      { definition: sensitive.includes(name) ? 'secret' : 'text', path: `/cnab/app/outputs/${path}` },
    ]);
    const bundle = {
      schemaVersion: 'v1.2.0',
      name: 'staged',
      version: '1.0.0',
      invocationImages: [{ imageType: 'oci', image: 'example/staged:1.0.0' }],
      definitions: { text: { type: 'string' }, secret: { type: 'string', writeOnly: true } },
      outputs: Object.fromEntries(entries) as object,
      ...more,
    };
    writeFileSync(join(folder, 'bundle.json'), JSON.stringify(bundle));
    return folder;
  }

  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return runCnab(args, { home: this.home, env: { CNAB_DRIVER: 'sandbox', ...env } });
  }

  /** `cnab install app BUNDLE --json`; the pod and its logs stay. */
  async install(bundle: string, flags: readonly string[], env?: Readonly<Record<string, string>>): Promise<Acted> {
    const ran = await this.run(['install', 'app', bundle, '--json', '--keep-job', ...flags], env);
    try {
      return { ...ran, document: JSON.parse(ran.stdout) as Acted['document'] };
    } catch {
      throw new Error(`no JSON document but ${JSON.stringify(ran.stdout)}:\n${ran.stderr}`);
    }
  }

  async output(name: string): Promise<Buffer> {
    return (await this.run(['outputs', 'show', 'app', name])).bytes;
  }

  /** Logs of all containers of the pods, as they lie on the node's disk, with records cut at lines joined again. */
  logs(): string {
    return this.#texts('cnab/sandbox', (path) => path.includes('/logs/'))
      .flatMap((text) => text.split('\n'))
      .map((line) => line.replace(/^\S+ std(out|err) ([FP]) /, ''))
      .join('\n');
  }

  /** Every document of the records, and what a run has left in flight; not the outputs themselves. */
  documents(): string {
    return this.#texts('cnab', (path) => path.endsWith('.json')).join('\n');
  }

  async close(): Promise<void> {
    const record = await readRecord(join(this.home, 'cnab/sandbox'));
    if (record !== undefined) process.kill(record.pid, 'SIGTERM');
    removeHome(this.home);
  }

  #texts(folder: string, isWanted: (path: string) => boolean): string[] {
    return filesBelow(join(this.home, folder))
      .filter(isWanted)
      .map((path) => readFileSync(path, 'latin1'));
  }
}

/** A pod's own file system may go while it is looked through; what a test looks for is not in there. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'runtime' ? [] : filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

/** A text and what base64 makes of it wherever it stands: the groups that its neighbours do not touch. */
export function spellings(text: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.from('\0'.repeat(offset) + text)
      .toString('base64')
      .slice(offset === 0 ? 0 : 4, -4),
  );
  return [text, ...base64, Buffer.from(text).toString('hex')];
}
