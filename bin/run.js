#!/usr/bin/env node
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const pjson = require('../package.json');
const argv = process.argv.slice(2);

if (argv.length === 1 && argv[0] === '--version') {
  console.log(`cnab ${pjson.version}`);
} else {
  process.exitCode = await require('../lib/main.cjs').runCli(argv, root, pjson);
}
