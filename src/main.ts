/** What bin/ loads and the framework looks up: the commands by id and the entry. */
export { runCli } from './cli/run.js';
export { COMMANDS } from './commands/index.js';
