import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Definition, Json } from './bundle.js';
import { isBase64Text } from './base64.js';

/** ajv and its formats; 60 ms of loading, so only what checks a value asks for them. */
export interface Validators {
  /**
   * Compiles a definition of a bundle with a validator of its own: several definitions of one bundle may carry the same
   * `$id` (Porter writes such), which a shared one refuses.
   *
   * @throws Error when it cannot be compiled: a `$ref` to elsewhere (nothing is ever fetched), a broken pattern.
   */
  readonly compile: (definition: Definition, options: CompileOptions) => Check;
  /** Checks a definition against the meta-schema of draft 7. */
  readonly draft7: Check;
  /** Compiles a schema of this project; all errors. */
  readonly compileOwn: (schema: object, options: { readonly allErrors: boolean }) => Check;
}

export interface CompileOptions {
  readonly allErrors: boolean;
  /** Whether `contentEncoding: base64` is enforced: for parameters, not for outputs, which are kept verbatim. */
  readonly encodings: boolean;
}

/** The errors of a value; empty when it fits. */
export type Check = (value: unknown) => readonly ErrorObject[];

export async function loadValidators(): Promise<Validators> {
  const [{ Ajv }, formats] = await Promise.all([import('ajv'), import('ajv-formats')]);
  const addFormats = callable(formats);
  const common = {
    // Formats and keywords that a validator does not know are annotations (the spec's own example has `idn-email`).
    strict: false,
    logger: false,
    verbose: true,
    // `required: ["toString"]` is not met by what every JavaScript object inherits.
    ownProperties: true,
  } as const;
  let draft7: Check | undefined;
  return {
    compile: (definition, { allErrors, encodings }) => {
      const schema = plainDraft7(definition);
      // Without the meta-schema a new validator costs 0.2 ms instead of 5.
      const meta = mentionsMetaSchema(schema);
      const ajv = new Ajv({
        ...common,
        allErrors,
        meta,
        validateSchema: false,
        // ECMA-262 patterns without the u flag, as the spec has them: `^\_a` is legal.
        unicodeRegExp: false,
      });
      addFormats(ajv, { keywords: false });
      // An unknown keyword since draft 6; ajv would refuse it.
      ajv.removeKeyword('id');
      if (encodings) {
        ajv.removeKeyword('contentEncoding');
        ajv.addKeyword({ keyword: 'contentEncoding', type: 'string', validate: fitsEncoding, errors: false });
      }
      return checkOf(ajv.compile(schema as object | boolean));
    },
    // 5 ms, and whoever checks a value does without.
    get draft7() {
      return (draft7 ??= checkOf(new Ajv({ ...common, allErrors: true }).getSchema(DRAFT_7) as ValidateFunction));
    },
    compileOwn: (schema, { allErrors }) =>
      checkOf(new Ajv({ ...common, allErrors, meta: false, validateSchema: false }).compile(schema)),
  };
}

/** A CommonJS module's function is on `default` twice when Node loads it and once in a bundle. */
function callable(module: unknown): (ajv: object, options: { readonly keywords: boolean }) => unknown {
  let found = module;
  while (typeof found !== 'function') found = (found as { default: unknown }).default;
  return found as ReturnType<typeof callable>;
}

export const DRAFT_7 = 'http://json-schema.org/draft-07/schema#';

function checkOf(validate: ValidateFunction): Check {
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
