import type { Json } from '../../bundle/bundle.js';
import { describeProblem, type Problem } from '../../bundle/problem.js';
import { document, withoutAbsent, type View } from '../format.js';
import { safeLine } from '../log-guard.js';

/** What was found out about one reference given to `bundle validate`. */
export interface CheckedBundle {
  readonly file: string;
  readonly bundle?: { readonly name: string; readonly version: string; readonly digest: string };
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Why it could not be read at all. */
  readonly unreadable?: string;
}

/** `bundle validate`: one line per problem as compilers print it, so that editors and CI systems can jump to it. */
export class BundleVerdictsView implements View {
  constructor(private readonly checked: readonly CheckedBundle[]) {}

  toJson(): Json {
    return document('bundle validate', {
      valid: this.checked.every(({ bundle }) => bundle !== undefined),
      bundles: this.checked.map(({ file, bundle, problems, warnings, unreadable }) =>
        withoutAbsent({
          file,
          valid: bundle !== undefined,
          ...bundle,
          problems: [
            ...(unreadable === undefined ? [] : [{ severity: 'error', message: unreadable }]),
            ...[...problems, ...warnings].map(problemJson),
          ],
        }),
      ),
    });
  }

  toText(): string {
    return this.checked.flatMap(linesOf).join('\n');
  }
}

function linesOf({ file, bundle, problems, warnings, unreadable }: CheckedBundle): string[] {
  const lines = [...problems.map(problemLine), ...warnings.map(problemLine)];
  if (unreadable !== undefined) lines.push(`${safeLine(file)}: ${safeLine(unreadable)}`);
  if (bundle)
    lines.push(`${safeLine(file)}: valid: ${safeLine(bundle.name)} ${safeLine(bundle.version)}, ${bundle.digest}`);
  return lines;
}

function problemLine(problem: Problem): string {
  const kind = problem.severity === 'warning' ? 'warning: ' : '';
  return safeLine(describeProblem({ ...problem, message: kind + problem.message }));
}

function problemJson({ severity, line, column, pointer, message }: Problem): Json {
  return { severity, line, column, pointer, message };
}
