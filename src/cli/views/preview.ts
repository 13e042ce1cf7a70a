import type { PreparedAction } from '../../action/prepare.js';
import type { Json } from '../../bundle/bundle.js';
import { document, withoutAbsent, yamlText, type View } from '../format.js';
import { table } from '../table.js';

const MASK = '******';

/** `--dry-run`: what an action would be given and what it would create. No sensitive value and no Secret's is shown. */
export class PreviewView implements View {
  private readonly objects: readonly Json[];

  constructor(
    private readonly command: string,
    private readonly prepared: PreparedAction,
    objects: readonly object[],
  ) {
    // As they would be sent: without what is undefined.
    this.objects = JSON.parse(JSON.stringify(objects)) as readonly Json[];
  }

  toJson(): Json {
    const { claim, start, digest, parameters, warnings } = this.prepared;
    const { name, version } = claim.bundle;
    return document(this.command, {
      dryRun: 'client',
      action: claim.action,
      installation: claim.installation,
      target: start.target.label,
      ran: 'no',
      bundle: { name, version, digest },
      parameters: parameters.applied.map(({ name, value, from, sensitive }) =>
        withoutAbsent({ name, from, sensitive, value: sensitive ? undefined : value }),
      ),
      warnings: warnings.length > 0 ? warnings : undefined,
      objects: this.objects,
    });
  }

  toText(): string {
    const { applied } = this.prepared.parameters;
    const rows = applied.map(({ name, value, from, sensitive }) => {
      const shown = value === undefined ? '-' : sensitive ? MASK : JSON.stringify(value);
      return [name, shown, from];
    });
    const parts = applied.length === 0 ? [] : [`${table(['PARAMETER', 'VALUE', 'FROM'], rows)}\n`];
    return [...parts, ...this.objects.map((object) => yamlText(object))].join('---\n').trimEnd();
  }
}
