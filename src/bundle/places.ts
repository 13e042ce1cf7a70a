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

/** An object or a list that is being read. */
interface Frame {
  /** Its key in the frame around it. */
  readonly name?: string;
  /** Absent where no wanted pointer leads into it. */
  readonly pointer?: string;
  /** Offsets of the keys so far; absent for a list. */
  readonly keys?: Map<string, number>;
  key: string;
  index: number;
}

const MOST_DUPLICATES = 100;

/**
 * Finds the places of `wanted` pointers, what stands at the offsets `asked`, and all duplicate keys in well-formed JSON,
 * in one pass and without a tree of the whole document. Loads the parser when called: only a document with problems needs it.
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
  const ancestors = withAncestors(wanted);

  const currentKey = (frame: Frame): string => (frame.keys === undefined ? String(frame.index) : frame.key);
  const pathTo = (key: string | undefined): readonly string[] =>
    [...frames.map(({ name }) => name), key].filter((name) => name !== undefined);
  const pointerHere = (): string | undefined => {
    const frame = frames.at(-1);
    if (frame === undefined) return '';
    if (frame.pointer === undefined) return undefined;
    const pointer = frame.pointer + pointerOf([currentKey(frame)]);
    return ancestors.has(pointer) ? pointer : undefined;
  };
  const leaveValue = (): void => {
    const frame = frames.at(-1);
    if (frame !== undefined) frame.index++;
  };
  const enterContainer = (offset: number, isObject: boolean): void => {
    const pointer = pointerHere();
    if (pointer !== undefined) values.set(pointer, offset);
    const parent = frames.at(-1);
    frames.push({
      ...(parent === undefined ? {} : { name: currentKey(parent) }),
      ...(pointer === undefined ? {} : { pointer }),
      ...(isObject ? { keys: new Map<string, number>() } : {}),
      key: '',
      index: 0,
    });
  };
  const leaveContainer = (): void => {
    frames.pop();
    leaveValue();
  };

  visit(
    text,
    {
      onObjectBegin: (offset) => enterContainer(offset, true),
      onArrayBegin: (offset) => enterContainer(offset, false),
      onObjectEnd: leaveContainer,
      onArrayEnd: leaveContainer,
      onLiteralValue: (_value, offset) => {
        const pointer = pointerHere();
        if (pointer !== undefined) values.set(pointer, offset);
        const frame = frames.at(-1);
        if (asked.has(offset)) pathsAt.set(offset, pathTo(frame === undefined ? undefined : currentKey(frame)));
        leaveValue();
      },
      onObjectProperty: (key, offset) => {
        const frame = frames.at(-1);
        if (frame?.keys === undefined) return;
        frame.key = key;
        const firstOffset = frame.keys.get(key);
        if (firstOffset === undefined) frame.keys.set(key, offset);
        else if (duplicates.length < MOST_DUPLICATES) duplicates.push({ path: pathTo(key), offset, firstOffset });
        const pointer = pointerHere();
        if (pointer !== undefined) keys.set(pointer, offset);
      },
    },
    { disallowComments: true },
  );
  return { keys, values, duplicates, pathsAt };
}

/** The pointers and all that lead to them. */
function withAncestors(pointers: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set<string>(['']);
  for (const pointer of pointers) {
    for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) all.add(pointer.slice(0, end));
  }
  return all;
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
