/**
 * The entry of a map that came out of JSON. Names like `constructor` and `__proto__` are ordinary names there, while
 * `map[name]` would find what every JavaScript object inherits.
 */
export function own<T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
}

/** As `own`, of what may be anything. */
export function member(json: unknown, key: string): unknown {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, key)) return undefined;
  return (json as Readonly<Record<string, unknown>>)[key];
}
