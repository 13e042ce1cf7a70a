/** What a killed run is made of: its output files and how it ends. */
export interface Shape {
  readonly name: 'small' | 'exec' | 'log';
  /** By name: shell text that writes the file. Every run writes the same. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Names of outputs that are marked as sensitive. */
  readonly sensitive: readonly string[];
  readonly exitCode: number;
  /** Flags of `install`. */
  readonly flags: readonly string[];
}

/** A bit over 6 MiB: above what one pass of the log carries. */
const LARGE = 'seq 1 900000';

export const SHAPES: readonly Shape[] = [
  { name: 'small', outputs: { note: 'echo a note', list: 'seq 1 5000' }, sensitive: [], exitCode: 3, flags: [] },
  {
    name: 'exec',
    outputs: { note: 'echo a note', key: 'echo the key of a run that is killed', large: LARGE },
    sensitive: ['key'],
    exitCode: 0,
    flags: [],
  },
  {
    name: 'log',
    outputs: { note: 'echo a note', large: LARGE },
    sensitive: [],
    exitCode: 0,
    flags: ['--outputs-via', 'log'],
  },
];

/**
 * The run tool: POSIX sh. `tell` is a shell function of the place that passes on one line and waits for the answer.
 * It runs for a second, says twenty lines, and ends; SIGTERM ends it with 9 unless it is `stubborn`.
 */
export function runToolOf({ outputs, exitCode }: Shape, tell: string, stubborn = false): string {
  const files = Object.entries(outputs).map(([name, text]) => `${text} > /cnab/app/outputs/${name}`);
  const ending = stubborn ? "trap '' TERM" : "trap 'exit 9' TERM";
  return `${tell}
tell "start $CNAB_INSTALLATION_NAME"
${ending}
i=0; while [ $i -lt 20 ]; do echo "line $i of $CNAB_ACTION"; i=$((i+1)); sleep 0.05; done
${files.join('\n')}
echo 'the last line'
tell "end $CNAB_INSTALLATION_NAME"
exit ${exitCode}
`;
}
