// Loaded before every test: what is easily overlooked fails the run.

process.on('warning', (warning) => {
  // An error in an event listener reaches mocha as an uncaught exception.
  throw new Error(`the run emitted a warning: ${warning.stack ?? warning.message}`);
});

const PATIENCE_MS = 10_000;

export const mochaHooks = {
  afterAll(): void {
    // Unreferenced: it fires only when something else keeps the process alive.
    setTimeout(() => {
      process.stderr.write(`left open after the last test: ${process.getActiveResourcesInfo().join(', ')}\n`);
      process.exit(1);
    }, PATIENCE_MS).unref();
  },
};
