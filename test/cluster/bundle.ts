import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const TOOL = 'registry.test:5000/tool:1';
export const NONROOT_TOOL = 'registry.test:5000/tool-nonroot:1';

export interface ToolBundle {
  /** Shell text that the run tool runs, whatever the action. */
  readonly script: string;
  readonly image?: string;
  readonly contentDigest?: string;
  /** Names; each is the file of that name in /cnab/app/outputs, a text. */
  readonly outputs?: readonly string[];
  /** Names of outputs that are marked as sensitive. */
  readonly sensitive?: readonly string[];
  /** More of bundle.json; `parameters` and `definitions` come beside those of the script. */
  readonly more?: Record<string, unknown>;
}

/** Writes a bundle whose image does what a script says, and returns its folder. */
export function writeToolBundle(home: string, given: ToolBundle): string {
  const { script, outputs = [], sensitive = [], more = {} } = given;
  const image = {
    imageType: 'oci',
    image: given.image ?? TOOL,
    ...(given.contentDigest === undefined ? {} : { contentDigest: given.contentDigest }),
  };
  const bundle = {
    schemaVersion: 'v1.2.0',
    name: 'tool',
    version: '1.0.0',
    ...more,
    invocationImages: [image],
    definitions: {
      script: { type: 'string', default: script },
      text: { type: 'string' },
      secret: { type: 'string', writeOnly: true },
      ...(more['definitions'] as object),
    },
    parameters: { script: { definition: 'script', destination: { env: 'SCRIPT' } }, ...(more['parameters'] as object) },
    outputs: {
      ...Object.fromEntries(outputs.map((name) => [name, output(name, 'text')])),
      ...Object.fromEntries(sensitive.map((name) => [name, output(name, 'secret')])),
      ...(more['outputs'] as object),
    },
    actions: { poke: { modifies: true }, ...(more['actions'] as object) },
  };
  const folder = join(home, 'bundle');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(bundle));
  return folder;
}

const output = (name: string, definition: string) => ({ definition, path: `/cnab/app/outputs/${name}` });
