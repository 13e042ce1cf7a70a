import { safeLine } from './log-guard.js';

/**
 * Columns of text, each as wide as its widest cell, two blanks apart; the last one is not padded.
 * Cells are made safe: they hold names and words from bundles and servers. No rows give the headings only.
 */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((row) => row.map(safeLine));
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ''))));
  return lines
    .map((line) =>
      line
        .map((cell, column) =>
          column === line.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - width(cell)),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `Key: value` lines, both made safe, with the values below each other; entries without a value are left out. */
export function facts(entries: readonly (readonly [string, string | undefined])[]): string {
  const present = entries
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([key, value]) => [safeLine(key), safeLine(value)] as const);
  const widest = Math.max(0, ...present.map(([key]) => key.length));
  return present.map(([key, value]) => `${key}:${' '.repeat(widest - key.length + 2)}${value}`).join('\n');
}

function width(text: string): number {
  return [...text].length;
}
