import type { Json } from '../../bundle/bundle.js';
import type { OutputSummary } from '../../action/request.js';
import { safeLine } from '../log-guard.js';
import { sizeText } from '../sizes.js';
import { table } from '../table.js';
import { document, withoutAbsent, type View } from '../format.js';

const WIDEST_VALUE = 60;

/** One output as `outputs list` knows it. */
export interface ListedOutput extends OutputSummary {
  readonly runId: string;
  readonly action: string;
  readonly created: string;
}

/** `outputs list`: what the runs of an installation left, the newest of each name. Never a sensitive value. */
export class OutputsView implements View {
  constructor(
    private readonly installation: string,
    private readonly target: string,
    private readonly outputs: readonly ListedOutput[],
  ) {}

  toJson(): Json {
    const outputs = this.outputs.map((output) =>
      withoutAbsent({ ...outputJson(output), runId: output.runId, action: output.action, created: output.created }),
    );
    return document('outputs list', { installation: this.installation, target: this.target, outputs });
  }

  toText(): string {
    return table(
      ['NAME', 'TYPE', 'SIZE', 'RUN', 'VALUE'],
      this.outputs.map((output) => [
        output.name,
        output.type,
        sizeText(output.size),
        `${output.action} ${output.runId}`,
        valueText(output),
      ]),
    );
  }
}

export function outputJson(output: OutputSummary): Readonly<Record<string, Json>> {
  const { name, type, size, sensitive, isDefault } = output;
  // A second guard: whoever made the summary left both of a sensitive output out.
  const { sha256, value } = sensitive ? {} : output;
  return withoutAbsent({
    name,
    type,
    size,
    sha256,
    sensitive,
    isDefault: isDefault ? true : undefined,
    value,
  });
}

/** The table of a run's outputs. Empty where there are none. */
export function outputTable(outputs: readonly OutputSummary[]): string {
  if (outputs.length === 0) return '';
  return table(
    ['OUTPUT', 'TYPE', 'SIZE', 'VALUE'],
    outputs.map((output) => [output.name, output.type, sizeText(output.size), valueText(output)]),
  );
}

/** A short value as one line; otherwise what kind of value it is. */
export function valueText({ sensitive, value, isDefault }: OutputSummary): string {
  const mark = isDefault ? ' (default)' : '';
  if (sensitive) return '<sensitive>';
  if (value === undefined) return '<not shown here: binary or large>';
  const text = safeLine(typeof value === 'string' ? value.replace(/\n$/, '') : JSON.stringify(value));
  const short = text.length > WIDEST_VALUE ? `${text.slice(0, WIDEST_VALUE - 1)}…` : text;
  return short + mark;
}
