import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Program and arguments that run `server-entry` in a process of its own; the folder and the version follow.
 * Built, it is a file beside the program's; from the sources, TypeScript's loader comes along.
 */
export function serverCommand(execPath: string, moduleUrl: string = import.meta.url): string[] {
  if (!moduleUrl.endsWith('.ts')) return [execPath, fileURLToPath(new URL('./sandbox-server.cjs', moduleUrl))];
  const loader = pathToFileURL(createRequire(moduleUrl).resolve('tsx')).href;
  return [execPath, '--import', loader, fileURLToPath(new URL('./server-entry.ts', moduleUrl))];
}
