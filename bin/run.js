#!/usr/bin/env node
// CommonJS (package.json beside it): Node's loader of ES modules takes 10 ms of every start.
const { dirname } = require('node:path');
const pjson = require('../package.json');

const root = dirname(__dirname);
const argv = process.argv.slice(2);

if (argv.length === 1 && argv[0] === '--version') {
  console.log(`cnab ${pjson.version}`);
} else {
  const { loadProgram } = require('./program.js');
  loadProgram(`${root}/lib`, process)
    .runCli(argv, root, pjson)
    .then((exitCode) => (process.exitCode = exitCode));
}
