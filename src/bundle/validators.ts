import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Definition, Json } from './bundle.js';
import { isBase64Text } from './base64.js';
import { isPlain, plainErrors } from './plain-definition.js';

export interface Validators {
  /**
   * Compiles a definition of a bundle with a validator of its own: several definitions of one bundle may carry the same
   * `$id` (Porter writes such), which a shared one refuses.
   *
   * @throws Error when it cannot be compiled: a `$ref` to elsewhere (nothing is ever fetched), a broken pattern.
   */
  readonly compile: (definition: Definition, options: CompileOptions) => Check;
}

export interface CompileOptions {
  readonly allErrors: boolean;
  /** Whether `contentEncoding: base64` is enforced: for parameters, not for outputs, which are kept verbatim. */
  readonly encodings: boolean;
}

/** The errors of a value; empty when it fits. */
export type Check = (value: unknown) => readonly ErrorObject[];

/** Of every ajv that this project makes. */
export const AJV_OPTIONS = {
  // Formats and keywords that a validator does not know are annotations (the spec's own example has `idn-email`).
  strict: false,
  logger: false,
  verbose: true,
  // `required: ["toString"]` is not met by what every JavaScript object inherits.
  ownProperties: true,
  validateSchema: false,
} as const;

/** Validators for these definitions; ajv and its formats take 40 ms of loading, so only where one asks for more than a type. */
export async function validatorsFor(definitions: readonly Definition[]): Promise<Validators> {
  const ajv = definitions.every(isPlain) ? undefined : await loadAjv();
  return {
    compile: (definition, options) => {
      if (isPlain(definition)) return (value) => plainErrors(definition, value);
      if (ajv === undefined) throw new Error('a validator for a definition that was not named before');
      return ajv.compile(definition, options);
    },
  };
}

/** ajv for every definition, plain or not. */
export async function loadAjv(): Promise<Validators> {
  const [{ Ajv }, formats] = await Promise.all([import('ajv'), import('ajv-formats')]);
  const addFormats = callable(formats);
  return {
    compile: (definition, { allErrors, encodings }) => {
      const schema = plainDraft7(definition);
      // Without the meta-schema a new validator costs 0.2 ms instead of 5.
      const meta = mentionsMetaSchema(schema);
      // ECMA-262 patterns without the u flag, as the spec has them: `^\_a` is legal.
      const ajv = new Ajv({ ...AJV_OPTIONS, allErrors, meta, unicodeRegExp: false });
      addFormats(ajv, { keywords: false });
      // An unknown keyword since draft 6; ajv would refuse it.
      ajv.removeKeyword('id');
      if (encodings) {
        ajv.removeKeyword('contentEncoding');
        ajv.addKeyword({ keyword: 'contentEncoding', type: 'string', validate: fitsEncoding, errors: false });
      }
      return checkOf(ajv.compile(schema as object | boolean));
    },
  };
}

/** A CommonJS module's function is on `default` twice when Node loads it and once in a bundle. */
function callable(module: unknown): (ajv: object, options: { readonly keywords: boolean }) => unknown {
  let found = module;
  while (typeof found !== 'function') found = (found as { default: unknown }).default;
  return found as ReturnType<typeof callable>;
}

export const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';

export function checkOf(validate: ValidateFunction): Check {
  return (value) => (validate(value) === true ? [] : (validate.errors ?? []));
}

/** Other encodings are annotations: what they mean is not known here. */
function fitsEncoding(encoding: unknown, value: string): boolean {
  return encoding !== 'base64' || isBase64Text(value);
}

/**
 * Definitions are draft 7 whatever their `$schema` says; ajv refuses to compile when it names another draft. `$async` is
 * ajv's own: its verdict would come as a promise that nobody awaits, whose rejection ends the process.
 */
function plainDraft7(definition: Definition): Json {
  if (typeof definition === 'boolean') return definition;
  const { $schema: _schema, $async: _async, ...rest } = definition;
  return rest;
}

function mentionsMetaSchema(schema: Json): boolean {
  return JSON.stringify(schema).includes('json-schema.org/draft-07/schema');
}
