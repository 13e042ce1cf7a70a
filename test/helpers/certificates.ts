import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Skips the tests behind a `before` hook, aloud, where there is no openssl to make certificates with. */
export function needsOpenssl(hook: Mocha.Context): void {
  if (spawnSync('openssl', ['version']).error === undefined) return;
  process.stderr.write('SKIPPED: tests of TLS connections, as there is no openssl here to make certificates with.\n');
  hook.skip();
}

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority in a folder, made with openssl. */
export class TestAuthority {
  readonly caFile: string;
  readonly ca: string;

  constructor(
    private readonly folder: string,
    private readonly name = 'ca',
  ) {
    mkdirSync(folder, { recursive: true });
    this.caFile = path.join(folder, `${name}.crt`);
    const key = path.join(folder, `${name}.key`);
    openssl('req', '-x509', ...newKey(key), '-subj', `/CN=${name}`, '-days', '2', '-out', this.caFile);
    this.ca = readFileSync(this.caFile, 'utf8');
  }

  /** `names` as in a subjectAltName: `IP:127.0.0.1`, `DNS:localhost`. Negative `days`: expired. */
  issue(name: string, names: readonly string[], days = 2): Certificate {
    const file = (end: string): string => path.join(this.folder, `${name}.${end}`);
    openssl('req', ...newKey(file('key')), '-subj', `/CN=${name}/O=testers`, '-out', file('csr'));
    const extensions = names.length === 0 ? 'basicConstraints=CA:FALSE' : `subjectAltName=${names.join(',')}`;
    writeFileSync(file('ext'), extensions);
    const by = ['-CA', this.caFile, '-CAkey', path.join(this.folder, `${this.name}.key`), '-CAcreateserial'];
    openssl(
      'x509',
      '-req',
      '-in',
      file('csr'),
      ...by,
      '-days',
      String(days),
      '-extfile',
      file('ext'),
      '-out',
      file('crt'),
    );
    const certFile = file('crt');
    const keyFile = file('key');
    return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  }
}

function newKey(file: string): string[] {
  return ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', file];
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
