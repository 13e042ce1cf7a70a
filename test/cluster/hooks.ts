// Loaded before the tests of the cluster ring: what is easily overlooked fails the run.
process.on('warning', (warning) => {
  throw new Error(`the run emitted a warning: ${warning.stack ?? warning.message}`);
});
