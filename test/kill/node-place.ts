import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '@kubernetes/client-node';
import { TOOL } from '../cluster/bundle.js';
import { Case } from '../cluster/case.js';
import { makeUser, readmeRules } from '../cluster/user.js';
import { environment } from '../helpers/run-cnab.js';
import type { Place } from './place.js';
import { bundleOf } from './sandbox-place.js';
import { runToolOf, type Shape } from './shapes.js';
import { StartCounter } from './start-counter.js';

/** The node of test/cluster/up, by a user with the rights of the README's Role. Its pods reach this process at the node's address. */
export async function nodePlace(): Promise<Place> {
  const one = await Case.open();
  const address = new URL(one.api.server).hostname;
  const counter = await StartCounter.start(address);
  const { kubeconfig } = await makeUser(one, readmeRules(one.namespace));
  const script = `tell() { echo "$1" | nc -w 10 ${address} ${counter.address.port} > /dev/null; }`;
  return {
    name: 'node',
    counter,
    outlivesHome: true,
    flags: [],
    newHome: () => mkdtempSync(join(one.home, 'home-')),
    environment: (home) => environment({ home, env: { KUBECONFIG: kubeconfig } }),
    bundle: (shape, stubborn) => writeBundle(one.home, shape, runToolOf(shape, script, stubborn), stubborn),
    left: (_, installation) => objectsLeft(one, installation),
    leave: (home) => {
      rmSync(home, { recursive: true, force: true });
      return Promise.resolve();
    },
    close: async () => {
      counter.close();
      await one.close();
    },
  };
}

function writeBundle(folder: string, shape: Shape, script: string, stubborn: boolean): string {
  const bundle = join(folder, `bundle-${shape.name}${stubborn ? '-stubborn' : ''}`);
  mkdirSync(bundle, { recursive: true });
  const given = bundleOf(shape);
  const more = {
    invocationImages: [{ imageType: 'oci', image: TOOL }],
    definitions: { ...(given['definitions'] as object), script: { type: 'string', default: script } },
    parameters: { script: { definition: 'script', destination: { env: 'SCRIPT' } } },
  };
  writeFileSync(join(bundle, 'bundle.json'), JSON.stringify({ ...given, ...more }));
  return bundle;
}

async function objectsLeft({ api, namespace }: Case, installation: string): Promise<readonly string[]> {
  const [jobs, pods, secrets] = await Promise.all([api.jobs(namespace), api.pods(namespace), api.secrets(namespace)]);
  const all: readonly KubernetesObject[] = [...jobs, ...pods, ...secrets];
  return all
    .filter(({ metadata }) => metadata?.labels?.['cnab.io/installation'] === installation)
    .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata?.name ?? '');
}
