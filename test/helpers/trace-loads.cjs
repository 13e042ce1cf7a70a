// Loaded into the built command by --require: says at the end which files of lib/ were read.
const { basename, dirname } = require('node:path');

process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => basename(dirname(file)) === 'lib');
  process.stderr.write(`loaded: ${files.map((file) => basename(file, '.cjs')).join(' ')}\n`);
});
