/** What `process` has of these. */
export interface ProgramSurroundings {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly getuid?: (() => number) | undefined;
  readonly versions: { readonly v8: string };
  readonly arch: string;
  readonly on: (event: 'exit', listener: () => void) => unknown;
}

export function loadProgram(folder: string, surroundings: ProgramSurroundings): unknown;
