import { compiledSchemas } from './compiled-schemas.js';
import { checkOf, type Check } from './validators.js';

/** Checks by the schemas that this program brings along. */
export interface OwnSchemas {
  /** A bundle's shape. */
  readonly bundle: Check;
  /** A definition against the meta-schema of draft 7. */
  readonly draft7: Check;
}

/** Without `allErrors` the checks end at the first one. */
export async function loadOwnSchemas(options: { readonly allErrors: boolean }): Promise<OwnSchemas> {
  const { bundle, draft7 } = await compiledSchemas(options.allErrors);
  return { bundle: checkOf(bundle), draft7: checkOf(draft7) };
}
