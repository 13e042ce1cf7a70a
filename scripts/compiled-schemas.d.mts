import type { Plugin } from 'esbuild';

export const compiledSchemas: Plugin;
export function compiledSchemaModules(): Promise<Record<'compiled-all' | 'compiled-first' | 'schemas', string>>;
