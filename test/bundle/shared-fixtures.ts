import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Context } from 'mocha';

const FOLDER = fileURLToPath(new URL('../../../shared/conformance/', import.meta.url));

/** Path of a public fixture; skips the test, with the reason in its title, where the folder is not there. */
export function publicFixture(test: Context, name: string): string {
  if (!existsSync(FOLDER)) {
    if (test.test !== undefined) test.test.title += ' [skipped: ../shared/conformance is not there]';
    test.skip();
  }
  return `${FOLDER}${name}`;
}

export function readPublicFixture(test: Context, name: string): Buffer {
  return readFileSync(publicFixture(test, name));
}
