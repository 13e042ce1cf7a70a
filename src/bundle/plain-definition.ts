import type { ErrorObject } from 'ajv';
import type { Definition, Json } from './bundle.js';
import { hasType } from './definition-type.js';

/** What describes a value and forbids none (draft 7, chapter 10), beside `type` itself. `$schema` is read as draft 7. */
const KEYWORDS = new Set([
  'type',
  'default',
  'title',
  'description',
  'examples',
  'readOnly',
  'writeOnly',
  '$comment',
  '$schema',
]);
const TYPES = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']);

/** A definition that asks for one type and nothing else, as most do. */
export interface PlainDefinition {
  readonly [keyword: string]: Json;
  readonly type: string;
}

/** True where a value's type is all that there is to check: that needs no library, whose loading takes 40 ms. */
export function isPlain(definition: Definition): definition is PlainDefinition {
  if (typeof definition === 'boolean' || !Object.hasOwn(definition, 'type')) return false;
  const { type } = definition;
  return typeof type === 'string' && TYPES.has(type) && Object.keys(definition).every((key) => KEYWORDS.has(key));
}

/** As ajv tells it. */
export function plainErrors(definition: PlainDefinition, value: unknown): readonly ErrorObject[] {
  const { type } = definition;
  if (hasType(value as Json, [type])) return [];
  return [
    {
      instancePath: '',
      schemaPath: '#/type',
      keyword: 'type',
      params: { type },
      message: `must be ${type}`,
      schema: type,
      parentSchema: definition,
      data: value,
    },
  ];
}
