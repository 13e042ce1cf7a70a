import type { Ajv, ValidateFunction } from 'ajv';
import { BUNDLE_SCHEMA } from './bundle-schema.js';
import { AJV_OPTIONS, DRAFT_7 } from './validators.js';

export interface CompiledSchemas {
  readonly bundle: ValidateFunction;
  readonly draft7: ValidateFunction;
}

/** By name, the schema's name in `ownAjv`. */
export const SCHEMAS = { bundle: 'bundle', draft7: DRAFT_7 } as const;

/**
 * From source only: in the program that is built the functions that ajv makes of the schemas stand in this module's
 * place (scripts/compiled-schemas.mjs), because making them takes 80 ms of every start, and reading them 2.
 */
export async function compiledSchemas(allErrors: boolean): Promise<CompiledSchemas> {
  const ajv = await ownAjv({ allErrors });
  return { bundle: ofSchema(ajv, SCHEMAS.bundle), draft7: ofSchema(ajv, SCHEMAS.draft7) };
}

/** One that knows the schemas; with `code` it keeps the code that it makes of them. */
export async function ownAjv(options: {
  readonly allErrors: boolean;
  readonly code?: { readonly source: true; readonly esm: true };
}): Promise<Ajv> {
  const { Ajv } = await import('ajv');
  return new Ajv({ ...AJV_OPTIONS, ...options }).addSchema(BUNDLE_SCHEMA, SCHEMAS.bundle);
}

function ofSchema(ajv: Ajv, name: string): ValidateFunction {
  const found = ajv.getSchema(name);
  if (found === undefined) throw new Error(`there is no schema ${name}`);
  return found;
}
