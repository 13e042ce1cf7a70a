import { accessSync, constants } from 'node:fs';
import { delimiter } from 'node:path';

/**
 * The tester's PATH without folders that may not be searched: with one of these, the system says of every program that it
 * does not find that it may not be executed (execvp(3), EACCES).
 */
export function readablePath(): string {
  return (process.env['PATH'] ?? '').split(delimiter).filter(isSearchable).join(delimiter);
}

function isSearchable(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
