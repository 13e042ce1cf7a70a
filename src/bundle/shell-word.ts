/** A word as a POSIX shell reads it back: names of a bundle stand in commands that people paste. */
export function shellWord(word: string): string {
  return /^[A-Za-z0-9_./@%+=:,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
