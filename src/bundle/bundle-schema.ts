/**
 * The shape of bundle.json (CNAB Core 1.2.0, chapter 101) as JSON Schema draft 7, in this project's own words. It holds
 * types, required and closed fields only: everything else is a rule in `rules/`, which can say more than a schema.
 * A definition is a schema itself and is checked in `definition-check.ts`.
 */

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const texts = { type: 'array', items: text } as const;

/** A map from names to things of one shape. */
function mapOf(shape: object): object {
  return { type: 'object', additionalProperties: shape };
}

/** Fields that may be there; unknown ones are legal below the top level and are kept. */
function thing(fields: object, required: readonly string[] = []): object {
  return { type: 'object', properties: fields, required };
}

const image = {
  image: text,
  imageType: text,
  contentDigest: text,
  size: { type: 'integer' },
  labels: mapOf(text),
  mediaType: text,
};

const parameter = thing(
  {
    definition: text,
    destination: thing({ env: text, path: text }),
    applyTo: texts,
    required: flag,
    description: text,
  },
  ['definition', 'destination'],
);

const credential = thing({ env: text, path: text, required: flag, applyTo: texts, description: text });

const output = thing({ definition: text, path: text, applyTo: texts, description: text }, ['definition', 'path']);

const action = thing({ title: text, description: text, modifies: flag, stateless: flag });

const maintainer = thing({ name: text, email: text, url: text }, ['name']);

const fields = {
  schemaVersion: text,
  name: text,
  version: text,
  description: text,
  keywords: texts,
  license: text,
  maintainers: { type: 'array', items: maintainer },
  invocationImages: { type: 'array', minItems: 1, items: thing(image, ['image']) },
  images: mapOf(thing({ ...image, description: text }, ['image'])),
  definitions: mapOf({ type: ['object', 'boolean'] }),
  parameters: mapOf(parameter),
  credentials: mapOf(credential),
  outputs: mapOf(output),
  actions: mapOf(action),
  requiredExtensions: texts,
  custom: { type: 'object' },
};

export const BUNDLE_FIELDS: readonly string[] = Object.keys(fields);

export const BUNDLE_SCHEMA: object = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'CNAB bundle',
  type: 'object',
  properties: fields,
  required: ['schemaVersion', 'name', 'version', 'invocationImages'],
  additionalProperties: false,
};
