#!/usr/bin/env node
// Runs the TypeScript in src at once, without a build.
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { register } from 'tsx/esm/api';

register();
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pjson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
pjson.oclif.commands.target = './src/main.ts';
const { runCli } = await import('../src/main.ts');
process.exitCode = await runCli(process.argv.slice(2), root, pjson);
