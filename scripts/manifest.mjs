// Writes oclif.manifest.json from the built commands, or with --check fails when the committed one differs.
import { Plugin } from '@oclif/core';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const file = new URL('../oclif.manifest.json', import.meta.url);
const plugin = new Plugin({
  root,
  type: 'core',
  ignoreManifest: true,
  errorOnManifestCreate: true,
  respectNoCacheDefault: true,
});
await plugin.load();
const manifest = `${JSON.stringify(plugin.manifest, null, 2)}\n`;

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== manifest) {
    console.error('oclif.manifest.json does not say what the commands say: run npm run build and commit it');
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, manifest);
}
