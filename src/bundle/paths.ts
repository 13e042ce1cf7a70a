import { OUTPUTS_FOLDER } from './bundle.js';

/** Bytes of a path and of one of its parts on Linux (PATH_MAX, NAME_MAX). */
const LONGEST_PATH = 4095;
const LONGEST_PART = 255;
const MOST_PARTS = 64;

/** A relative destination is read as if `/` stood before it (spec 103). */
export function rootedPath(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}

/** True when `path` lies below `folder`, counted in whole path segments: `/a/bc` is not below `/a/b`. */
export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder === '/' ? '/' : `${folder}/`) && path !== folder;
}

/** Why an absolute path is not clean, as the end of a sentence; undefined when it is. */
export function uncleanPath(path: string): string | undefined {
  if (path === '/') return 'is the root folder: name a file';
  if (path.includes('\0')) return 'holds a NUL character, which no path can';
  if (/\p{Surrogate}/u.test(path)) return 'holds half a character (a lone surrogate), which no path can';
  if (path.endsWith('/')) return 'ends in "/": name a file';
  if (path.includes('//')) return 'has "//" in it: write one slash';
  const parts = path.slice(1).split('/');
  if (parts.includes('..')) return 'has ".." in it: write the path without';
  if (parts.includes('.')) return 'has "." as a part: write the path without';
  if (Buffer.byteLength(path) > LONGEST_PATH || parts.length > MOST_PARTS) {
    return `is too long: ${LONGEST_PATH} bytes and ${MOST_PARTS} parts are the most`;
  }
  if (parts.some((part) => Buffer.byteLength(part) > LONGEST_PART))
    return `has a part of more than ${LONGEST_PART} bytes`;
  return undefined;
}

/** What the runtime itself puts into the invocation image; nothing may stand in its place (spec 103). */
const RUNTIME_FILES: readonly string[] = [
  '/cnab/app/run',
  '/cnab/bundle.json',
  '/cnab/claim.json',
  '/cnab/app/image-map.json',
  '/cnab/app/relocation-mapping.json',
];

/** Why no parameter or credential may be put at this rooted, clean path, as the end of a sentence; undefined when one may. */
export function forbiddenDestination(path: string): string | undefined {
  if (path === OUTPUTS_FOLDER || isBelow(path, OUTPUTS_FOLDER))
    return `lies in ${OUTPUTS_FOLDER}, which is for outputs: choose a path elsewhere`;
  if (isBelow(OUTPUTS_FOLDER, path)) return `is a folder that the runtime needs: choose the path of a file`;
  for (const file of RUNTIME_FILES) {
    if (path === file) return 'belongs to the runtime: choose another path';
    if (isBelow(path, file)) return `lies below ${file}, which is a file: choose another path`;
  }
  return undefined;
}
