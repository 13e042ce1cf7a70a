#!/usr/bin/env node
// Runs the TypeScript in src at once, without a build.
const { dirname } = require('node:path');
const { register } = require('tsx/esm/api');
const pjson = require('../package.json');

register();
const root = dirname(__dirname);
const oclif = { ...pjson.oclif, commands: { ...pjson.oclif.commands, target: './src/main.ts' } };
import('../src/main.ts')
  .then(({ runCli }) => runCli(process.argv.slice(2), root, { ...pjson, oclif }))
  .then((exitCode) => (process.exitCode = exitCode));
