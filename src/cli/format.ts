import type { Json, JsonObject } from '../bundle/bundle.js';

export const FORMATS = ['table', 'json', 'yaml'] as const;
export type Format = (typeof FORMATS)[number];

/** What one place says about the format: the command line, the environment, the config file. */
export interface FormatWish {
  readonly json?: boolean | undefined;
  readonly output?: string | undefined;
}

/** The first place that says something counts; in one place `--json` beats `--output`. */
export function chooseFormat(wishes: readonly FormatWish[]): Format {
  let denied = false;
  for (const { json, output } of wishes) {
    if (json === true && !denied) return 'json';
    const format = FORMATS.find((known) => known === output);
    if (format !== undefined) return format;
    denied ||= json === false;
  }
  return 'table';
}

/**
 * One result with its faces, so that `--json` can never say something else than the table.
 * `toText` may be empty (nothing to say); it ends without a newline.
 */
export interface View {
  toJson(): Json;
  toText(): string;
}

/** Version of every JSON document that commands print; a key that goes away or changes its meaning raises it. */
const DOCUMENT_VERSION = 1;

/** A document of a command: its keys in the order in which they are printed. */
export function document(command: string, rest: Readonly<Record<string, Json | undefined>>): JsonObject {
  return withoutAbsent({ schemaVersion: DOCUMENT_VERSION, command, ...rest });
}

/** JSON has no `undefined`; an absent key is absent. */
export function withoutAbsent(object: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/**
 * JSON that can be shown anywhere: what a terminal would obey is escaped, and so are the markers that CI systems look
 * for anywhere in a line (`##[`, `##vso[`, `##teamcity[`). Its value is the same.
 */
export function jsonText(value: Json): string {
  return `${JSON.stringify(value, null, 2).replace(UNSAFE, escapeCharacter).replace(MARKER, '#\\u0023')}\n`;
}

/** YAML 1.2. Every text that is not plainly a word is written as JSON, which YAML contains. */
export function yamlText(value: Json): string {
  return `${yamlLines(value).join('\n')}\n`;
}

const UNSAFE = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;
const MARKER = /##(?=\[|vso\[|teamcity\[)/gi;
const PLAIN = /^[A-Za-z][\w./@+-]*$/;
const NOT_A_STRING = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function yamlLines(value: Json): string[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return ['[]'];
    return (value as readonly Json[]).flatMap((item) => indented(yamlLines(item), '- '));
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return ['{}'];
    return entries.flatMap(([key, item]) => {
      const lines = yamlLines(item);
      const nested = typeof item === 'object' && item !== null && Object.keys(item).length > 0;
      return nested ? [`${yamlScalar(key)}:`, ...indented(lines, '  ')] : [`${yamlScalar(key)}: ${lines[0]}`];
    });
  }
  return [yamlScalar(value)];
}

function indented(lines: readonly string[], first: string): string[] {
  return lines.map((line, index) => (index === 0 ? first : '  ') + line);
}

function yamlScalar(value: null | boolean | number | string): string {
  if (typeof value === 'string' && PLAIN.test(value) && !NOT_A_STRING.test(value)) return value;
  return jsonText(value).trimEnd();
}
