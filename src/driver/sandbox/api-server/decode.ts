import type { ResourceName } from './objects.js';
export function decode(
  _r: ResourceName,
  body: unknown,
  _f: string | null,
): { object: Readonly<Record<string, unknown>>; warnings: readonly string[] } {
  return { object: body as Record<string, unknown>, warnings: [] };
}
