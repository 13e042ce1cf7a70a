import type * as JsoncParser from 'jsonc-parser';
import { pointerOf, type Place } from './problem.js';

/** Where the wanted parts of a JSON text stand. Offsets are in UTF-16 code units. */
export interface JsonPlaces {
  /** By JSON Pointer; of a key that is there twice, the last, which is the one that counts. */
  readonly keys: ReadonlyMap<string, number>;
  readonly values: ReadonlyMap<string, number>;
  readonly duplicates: readonly DuplicateKey[];
  /** What stands at the asked offsets. */
  readonly pathsAt: ReadonlyMap<number, readonly string[]>;
}

export interface DuplicateKey {
  readonly path: readonly string[];
  readonly offset: number;
  readonly firstOffset: number;
}

export type JsonParser = Pick<typeof JsoncParser, 'visit'>;

interface Frame {
  readonly path: readonly string[];
  readonly pointer: string;
  /** Offsets of the keys so far; absent for an array. */
  readonly keys?: Map<string, number>;
  key: string;
  index: number;
}

const MOST_DUPLICATES = 100;

/**
 * Finds the places of `wanted` pointers and all duplicate keys in well-formed JSON, in one pass and without a tree of
 * the whole document. Loads the parser when called: only a document with problems needs it.
 */
export async function findPlaces(
  text: string,
  wanted: ReadonlySet<string>,
  asked: ReadonlySet<number> = new Set(),
): Promise<JsonPlaces> {
  const { visit } = await loadParser();
  const keys = new Map<string, number>();
  const values = new Map<string, number>();
  const duplicates: DuplicateKey[] = [];
  const pathsAt = new Map<number, readonly string[]>();
  const frames: Frame[] = [];

  const enterValue = (offset: number): { pointer: string; key?: string } => {
    const parent = frames.at(-1);
    if (parent === undefined) {
      if (wanted.has('')) values.set('', offset);
      return { pointer: '' };
    }
    const key = parent.keys === undefined ? String(parent.index++) : parent.key;
    const pointer = parent.pointer + pointerOf([key]);
    if (wanted.has(pointer)) values.set(pointer, offset);
    return { pointer, key };
  };
  const enterContainer = (offset: number, isObject: boolean): void => {
    const parent = frames.at(-1);
    const { pointer, key } = enterValue(offset);
    const path = parent === undefined || key === undefined ? [] : [...parent.path, key];
    frames.push({ path, pointer, key: '', index: 0, ...(isObject ? { keys: new Map<string, number>() } : {}) });
  };

  visit(
    text,
    {
      onObjectBegin: (offset) => enterContainer(offset, true),
      onArrayBegin: (offset) => enterContainer(offset, false),
      onObjectEnd: () => void frames.pop(),
      onArrayEnd: () => void frames.pop(),
      onLiteralValue: (_value, offset) => {
        const path = frames.at(-1)?.path ?? [];
        const { key } = enterValue(offset);
        if (asked.has(offset)) pathsAt.set(offset, key === undefined ? path : [...path, key]);
      },
      onObjectProperty: (key, offset) => {
        const frame = frames.at(-1);
        if (frame?.keys === undefined) return;
        frame.key = key;
        const firstOffset = frame.keys.get(key);
        if (firstOffset === undefined) frame.keys.set(key, offset);
        else if (duplicates.length < MOST_DUPLICATES)
          duplicates.push({ path: [...frame.path, key], offset, firstOffset });
        const pointer = frame.pointer + pointerOf([key]);
        if (wanted.has(pointer)) keys.set(pointer, offset);
      },
    },
    { disallowComments: true },
  );
  return { keys, values, duplicates, pathsAt };
}

/** `jsonc-parser` is a UMD module: what it exports is found on `default` in Node and by name after bundling. */
export async function loadParser(): Promise<JsonParser> {
  const module: JsonParser & { readonly default?: JsonParser } = await import('jsonc-parser');
  return module.default ?? module;
}

/** Gives line and column of offsets in the text; line ends are LF, CR LF or CR. */
export function placesIn(text: string): (offset: number) => Place {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
