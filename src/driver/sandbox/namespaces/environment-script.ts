/**
 * The last stage's shell script, read from standard input: it sets the container's environment and becomes the command.
 * This way no value is ever an argument, which everybody on the machine could read in /proc, and no program that still
 * has rights sees a variable such as LD_PRELOAD.
 */
export interface ContainedCommand {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly argv: readonly string[];
  readonly workingDir: string;
  /** Descriptor that becomes the command's standard error; the script's own complaints go to 2. */
  readonly stderr: number;
}

/** Printed on descriptor 2 right before the command starts. */
export const STARTED = 'started';
/** Exit code of the script when the command cannot be started; nobody has run. */
export const NOT_STARTED = 125;

const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that some shell keeps to itself or obeys at once: read-only, checked, computed, its language (bash, dash, busybox). */
const SHELL_OWN =
  /^(?:BASH.*|COMP_.*|DIRSTACK|EPOCH.*|EUID|FUNCNAME|GROUPS|HISTCMD|LANG|LC_.*|LINENO|OPTIND|OPTARG|OPTERR|PIPESTATUS|PPID|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|_)$/;
/** What a shell adds to the environment of its own accord, and what the stages before it were run with. */
const NOT_GIVEN = ['PWD', 'OLDPWD', 'SHLVL', '_', 'LC_ALL'];
const DEFAULTS = [
  { name: 'PATH', value: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  { name: 'HOME', value: '/root' },
];

/**
 * Names that no shell can set (`my.var`) are given by env(1), whose arguments are visible for the moment of an exec;
 * Kubernetes takes such names and a script never sees them. Throws RangeError on a NUL, which no environment can hold.
 */
export function environmentScript(command: ContainedCommand): string {
  const given = new Set(command.env.map(({ name }) => name));
  const env = [...DEFAULTS.filter(({ name }) => !given.has(name)), ...command.env];
  const isPlain = (name: string): boolean => SHELL_NAME.test(name) && !SHELL_OWN.test(name);
  const unset = NOT_GIVEN.filter((name) => !given.has(name) || !isPlain(name));
  const odd = env.filter(({ name }) => !isPlain(name));
  const [program = ''] = command.argv;
  const lines = [
    `cd -- ${quoted(command.workingDir)} || exit ${NOT_STARTED}`,
    ...env.filter(({ name }) => isPlain(name)).map(({ name, value }) => `export ${name}=${quoted(value)}`),
    `command -v ${quoted(program)} >/dev/null || { echo ${quoted(`there is no command ${program}`)} >&2; exit ${NOT_STARTED}; }`,
    `echo ${STARTED} >&2`,
    [
      'exec /usr/bin/env',
      ...unset.map((name) => `-u ${name}`),
      ...odd.map(({ name, value }) => quoted(`${name}=${value}`)),
      ...command.argv.map(quoted),
      `</dev/null 2>&${command.stderr} ${command.stderr}>&-`,
    ].join(' '),
  ];
  return `${lines.join('\n')}\n`;
}

/** A word that a POSIX shell takes literally. */
export function quoted(text: string): string {
  if (text.includes('\0')) throw new RangeError('a NUL byte cannot be an argument or a part of the environment');
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
