import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT_CODES } from '../../src/cli/exit-codes.js';
import { COMMANDS } from '../../src/commands/index.js';
import { ROOT } from '../helpers/run-cnab.js';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...['hello', 'certs', 'flaky'].map((name) => `bundles/${name}/README.md`),
];
const page = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

/** Command lines in code blocks and in `inline code`, without comments and what a shell does with the answer. */
function commandLines(text: string): readonly string[] {
  const inline = [...text.matchAll(/`(cnab [^`]+)`/g)].map(([, line]) => line ?? '');
  const blocks = text.split('\n').flatMap((line) => /^ {4,}(?:\$ )?(?:\w+=\$\()?(cnab .*)/.exec(line)?.[1] ?? []);
  const console = text.split('\n').flatMap((line) => /^\$ (cnab .*)/.exec(line)?.[1] ?? []);
  return [...inline, ...blocks, ...console].map((line) => line.replace(/\s+[#|>&].*$|\)$/, '').trim());
}

interface Known {
  readonly char?: string;
  readonly aliases?: readonly string[];
}

/** What is wrong with a command line, as far as names of commands and flags go. */
function slip(line: string): string | undefined {
  const words = line.split(/\s+/).slice(1);
  if (words[0] === 'COMMAND' || words[0]?.startsWith('-')) return undefined;
  const id = [`${words[0]}:${words[1]}`, words[0] ?? ''].find((one) => one in COMMANDS);
  const command = id === undefined ? undefined : COMMANDS[id];
  if (command === undefined) return `there is no command: ${line}`;
  const flags: [string, Known][] = Object.entries({ ...command.baseFlags, ...command.flags });
  const names = flags.flatMap(([name, { char, aliases = [] }]) =>
    [name, ...aliases].map((one) => `--${one}`).concat(char === undefined ? [] : `-${char}`),
  );
  const unknown = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/=.*/, ''));
  const wrong = unknown.filter((flag) => ![...names, '--help'].includes(flag));
  return wrong.length === 0 ? undefined : `${line}: no flag ${wrong.join(' ')}`;
}

describe('what the pages say', () => {
  for (const name of PAGES) {
    it(`${name}: every command and flag in it exists`, () => {
      const lines = commandLines(page(name));
      assert.ok(name === 'CONTRIBUTING.md' || lines.length > 3, `only ${lines.length} commands were found`);
      assert.deepEqual(
        lines.flatMap((line) => slip(line) ?? []),
        [],
      );
    });
  }

  it('README.md: every flag that is named alone exists', () => {
    const named = [...page('README.md').matchAll(/`(--[a-z][a-z-]*)/g)].map(([, flag]) => flag?.slice(2) ?? '');
    const known = Object.values(COMMANDS).flatMap(({ flags, baseFlags }) => Object.keys({ ...flags, ...baseFlags }));
    assert.ok(named.length > 5);
    assert.deepEqual(
      named.filter((flag) => !known.includes(flag)),
      [],
    );
  });

  it('README.md: the exit codes are those of the program, in its words', () => {
    const rows = [...page('README.md').matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)].map(([, code, meaning]) => [
      Number(code),
      meaning,
    ]);
    assert.deepEqual(
      rows,
      EXIT_CODES.map(({ code, meaning }) => [code, meaning]),
    );
  });
});
