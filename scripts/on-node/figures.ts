/** Of an even count the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

export const MiB = 1024 * 1024;

/** Millions of bytes a second. */
export function rate(bytes: number, ms: number): string {
  return `${(bytes / 1000 / ms).toFixed(1)} MB/s`;
}

/** Value of `--name VALUE` among the arguments. */
export function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}
