import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment } from '../helpers/run-cnab.js';
import type { Place } from './place.js';
import { runToolOf, type Shape } from './shapes.js';
import { StartCounter } from './start-counter.js';

/** Each home has a sandbox of its own, whose server outlives a killed command. */
export async function sandboxPlace(): Promise<Place> {
  const counter = await StartCounter.start();
  const folder = mkdtempSync(join(tmpdir(), 'cnab-killed-'));
  // A bundle runs as a user who owns nothing.
  chmodSync(folder, 0o755);
  let homes = 0;
  return {
    name: 'sandbox',
    counter,
    outlivesHome: false,
    flags: ['--driver', 'sandbox'],
    newHome: () => {
      const home = join(folder, `home-${++homes}`);
      mkdirSync(home);
      return home;
    },
    environment: (home) => environment({ home }),
    bundle: (shape, stubborn) => writeBundle(folder, shape, stubborn, counter.address.port),
    left: (home, installation) => objectsLeft(home, installation),
    leave: (home) => {
      const { pid = 0 } = serverOf(home);
      if (pid > 0) process.kill(pid, 'SIGTERM');
      rmSync(home, { recursive: true, force: true });
      return Promise.resolve();
    },
    close: () => {
      counter.close();
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

function writeBundle(folder: string, shape: Shape, stubborn: boolean, port: number): string {
  const bundle = join(folder, `bundle-${shape.name}${stubborn ? '-stubborn' : ''}`);
  mkdirSync(join(bundle, 'cnab/app'), { recursive: true });
  const tell = `tell() { exec 3<>/dev/tcp/127.0.0.1/${port}; echo "$1" >&3; read -r _ <&3; exec 3>&-; }`;
  writeFileSync(join(bundle, 'cnab/app/run'), `#!/bin/bash\n${runToolOf(shape, tell, stubborn)}`, { mode: 0o755 });
  writeFileSync(join(bundle, 'bundle.json'), JSON.stringify(bundleOf(shape)));
  return bundle;
}

export function bundleOf({ name, outputs, sensitive }: Shape): Record<string, unknown> {
  const entries = Object.keys(outputs).map((output) => [
    output,
    { definition: sensitive.includes(output) ? 'secret' : 'text', path: `/cnab/app/outputs/${output}` },
  ]);
  return {
    schemaVersion: 'v1.2.0',
    name: `killed-${name}`,
    version: '1.0.0',
    invocationImages: [{ imageType: 'oci', image: 'example/killed:1.0.0' }],
    definitions: { text: { type: 'string' }, secret: { type: 'string', writeOnly: true } },
    outputs: Object.fromEntries(entries) as Record<string, unknown>,
  };
}

interface ServerRecord {
  readonly pid?: number;
  readonly port?: number;
  readonly token?: string;
}

function serverOf(home: string): ServerRecord {
  try {
    return JSON.parse(readFileSync(join(home, 'cnab/sandbox/server.json'), 'utf8')) as ServerRecord;
  } catch {
    return {};
  }
}

/** Asks the sandbox's server itself; where there is none, nothing is left. */
async function objectsLeft(home: string, installation: string): Promise<readonly string[]> {
  const { port, token } = serverOf(home);
  if (port === undefined || token === undefined) return [];
  const kinds = [
    'apis/batch/v1/namespaces/default/jobs',
    'api/v1/namespaces/default/pods',
    'api/v1/namespaces/default/secrets',
  ];
  const lists = kinds.map(async (kind) => {
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/${kind}`, { headers: { authorization: `Bearer ${token}` } });
      const { items = [] } = (await answer.json()) as {
        items?: { metadata: { name: string; deletionTimestamp?: string } }[];
      };
      // The sidecar of large outputs by the log ends by its own schedule; its pod goes then.
      const staying = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      return staying.map(({ metadata }) => `${kind.split('/').at(-1)}/${metadata.name} of ${installation}`);
    } catch {
      return [];
    }
  });
  return (await Promise.all(lists)).flat();
}
