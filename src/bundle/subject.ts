import { quoted } from './problem.js';

const ENTRIES: Readonly<Record<string, string>> = {
  parameters: 'parameter',
  credentials: 'credential',
  outputs: 'output',
  actions: 'action',
  images: 'image',
  definitions: 'definition',
};

const POSITIONS: Readonly<Record<string, string>> = {
  invocationImages: 'invocation image',
  maintainers: 'maintainer',
  keywords: 'keyword',
  requiredExtensions: 'required extension',
};

/** How a message calls the part of a bundle at this path: `parameter "port": "destination"`. */
export function subjectOf(path: readonly string[]): string {
  const [section, entry, ...inner] = path;
  if (section === undefined) return 'the bundle';
  if (entry === undefined) return quoted(section);
  const kind = Object.hasOwn(ENTRIES, section) ? ENTRIES[section] : undefined;
  const positioned = Object.hasOwn(POSITIONS, section) ? POSITIONS[section] : undefined;
  if (kind === undefined && positioned === undefined) return quoted(path.join('.'));
  const name = kind === undefined ? `${positioned} ${Number(entry) + 1}` : `${kind} ${quoted(entry)}`;
  return inner.length === 0 ? name : `${name}: ${quoted(inner.join('.'))}`;
}
