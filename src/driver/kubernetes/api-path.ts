export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Path below an API root, each segment encoded: `apiPath('/api/v1', 'namespaces', ns, 'pods', pod, 'log')`.
 * Throws for an empty, `.` or `..` segment, which would name another resource.
 */
export function apiPath(root: string, ...segments: readonly string[]): string {
  for (const segment of segments) {
    if (segment === '' || segment === '.' || segment === '..') {
      throw new RangeError(`${JSON.stringify(segment)} cannot be a segment of an API path`);
    }
  }
  return [root, ...segments.map(encodeURIComponent)].join('/');
}

/** `?a=1&b=x`, or nothing; undefined values are left out, 0 and false are not. */
export function querySuffix(query: Query | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([key, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}
