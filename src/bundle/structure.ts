import type { ErrorObject } from 'ajv';
import type { Json } from './bundle.js';
import { BUNDLE_FIELDS } from './bundle-schema.js';
import { explain } from './explain.js';
import { nearest } from './nearest.js';
import { loadOwnSchemas } from './own-schemas.js';
import { error, pathOf, quoted, type Finding } from './problem.js';
import { subjectOf } from './subject.js';

/** What the bundle's schema does not allow, and where the document is broken for it. */
export interface Structure {
  readonly findings: readonly Finding[];
  readonly broken: readonly (readonly string[])[];
  /** False when the document is so large that only the first problem was sought. */
  readonly complete: boolean;
}

/** Above this many values only the first problem is sought: a file of 16 MiB can hold millions, each kept in memory. */
const MOST_VALUES = 100_000;

export async function checkStructure(document: Json, values: number): Promise<Structure> {
  const allErrors = values <= MOST_VALUES;
  const { bundle } = await loadOwnSchemas({ allErrors });
  const errors = bundle(document);
  return {
    findings: errors.filter((item) => !isEchoOfOldForm(item)).map(findingOf),
    broken: errors.map((item) => pathOf(item.instancePath)),
    complete: allErrors || errors.length === 0,
  };
}

function findingOf(item: ErrorObject): Finding {
  const path = pathOf(item.instancePath);
  if (item.keyword === 'additionalProperties') return unknownField(String(item.params['additionalProperty']));
  if (item.keyword === 'required') return missingField(path, String(item.params['missingProperty']));
  if (item.keyword === 'minItems') {
    return error(path, 'there is no invocation image: list at least one under "invocationImages"');
  }
  if (item.data === null) {
    const [field] = path;
    const needed = path.length === 1 && field !== undefined && Object.hasOwn(NEEDED, field) ? NEEDED[field] : undefined;
    return error(
      path,
      `${subjectOf(path)} ${demandOf(item)}: ${needed ?? 'leave it out when there is nothing to say'}`,
    );
  }
  return error(path, `${subjectOf(path)} ${demandOf(item)}`);
}

function demandOf(item: ErrorObject): string {
  return explain([item])[0]?.text ?? 'does not fit';
}

function unknownField(field: string): Finding {
  const meant = nearest(field, BUNDLE_FIELDS);
  const advice =
    meant === undefined ? 'what is not in the spec belongs under "custom"' : `did you mean ${quoted(meant)}?`;
  return error([field], `a bundle has no field ${quoted(field)}: ${advice}`, 'key');
}

const NEEDED: Readonly<Record<string, string>> = {
  schemaVersion: 'write the version of the CNAB spec that it follows, as in "v1.2.0"',
  name: 'give it a name',
  version: 'give it a version, as in "0.1.0"',
  invocationImages: 'list at least one invocation image',
  definition: 'write the name of an entry of "definitions"',
  destination: 'write where the value goes, as in {"env": "PORT"}',
  path: 'write the file that the bundle writes, as in "/cnab/app/outputs/NAME"',
  image: 'write the reference of the image',
};

/** `outputs.fields` of before 1.0 lacks everything that an output has; saying so once is enough. */
function isEchoOfOldForm(item: ErrorObject): boolean {
  if (item.keyword !== 'required' || item.params['missingProperty'] === 'definition') return false;
  return (
    /^\/(outputs|parameters)\/fields$/.test(item.instancePath) && !Object.hasOwn(item.data as object, 'definition')
  );
}

function missingField(path: readonly string[], field: string): Finding {
  const [section, entry] = path;
  if (
    path.length === 2 &&
    entry === 'fields' &&
    (section === 'outputs' || section === 'parameters') &&
    field === 'definition'
  ) {
    return error(
      path,
      `"${section}.fields" is a form from before CNAB 1.0: put its entries right under "${section}"`,
      'key',
    );
  }
  const advice = Object.hasOwn(NEEDED, field) && !(path[0] === 'maintainers') ? NEEDED[field] : 'add it';
  return error(path, `${subjectOf(path)} has no ${quoted(field)}: ${advice}`);
}
