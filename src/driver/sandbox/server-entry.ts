import process from 'node:process';
import { messageOf } from '../../errors.js';
import { systemClock } from '../clock.js';
import { closeInheritedDescriptors } from './close-descriptors.js';
import { runServer } from './server-process.js';

/**
 * The program of the API server's process: `node <this> FOLDER VERSION`. Not a command: the sandbox driver starts it.
 * On standard output it says one line: `published`, `taken`, or `failed` and why.
 */
function main(): void {
  const [folder = '', version = ''] = process.argv.slice(2);
  closeInheritedDescriptors();
  process.umask(0o022);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  process.on('SIGHUP', () => undefined);
  // The CLI may be gone when the line is said.
  process.stdout.on('error', () => undefined);
  const say = (line: string): void => void process.stdout.end(`${line}\n`);
  runServer({
    folder,
    version,
    uid: process.getuid?.() ?? -1,
    pid: process.pid,
    clock: systemClock,
    signal: stop.signal,
    onReady: say,
  }).then(
    () => process.exit(0),
    (error: unknown) => {
      say(`failed ${messageOf(error).split('\n').join(' ')}`);
      process.exitCode = 1;
    },
  );
}

main();
