import type { Json } from '../bundle/bundle.js';
import { CUSTOM_KEY, type Claim, type ClaimRecord, type Result } from '../claim/claim.js';
import type { Choices } from './request.js';

/** What a claim's `custom` holds under our dotted name, beside the documents' own fields. */
export interface ClaimExtras {
  /** What the user set, as typed values: without the defaults, which a new bundle version may change. */
  readonly overrides: Readonly<Record<string, Json>>;
  readonly choices: Choices;
  readonly bundleDigest: string;
  /** Folder of the bundle, for the sandbox. */
  readonly bundleFolder?: string;
}

/** What a final result's `custom` holds under our dotted name. */
export interface ResultExtras {
  readonly ran: 'no' | 'yes' | 'unknown';
  readonly exitCode?: number;
  /** `ErrorCode` of the end, absent for a success. */
  readonly code?: string;
  readonly logComplete: boolean;
}

const NO_CHOICES: Choices = { credentialSets: [] };

/** Reads what another version of this program, or another tool, may have written: what does not fit is absent. */
export function claimExtras(claim: Claim): ClaimExtras {
  const own = extras(claim.custom);
  const overrides = own['overrides'];
  const bundleFolder = own['bundleFolder'];
  const bundleDigest = own['bundleDigest'];
  return {
    overrides: isRecord(overrides) ? overrides : {},
    choices: readChoices(own['choices']),
    bundleDigest: typeof bundleDigest === 'string' ? bundleDigest : '',
    ...(typeof bundleFolder === 'string' ? { bundleFolder } : {}),
  };
}

function readChoices(json: Json | undefined): Choices {
  if (!isRecord(json)) return NO_CHOICES;
  const sets = json['credentialSets'];
  const serviceAccount = json['serviceAccount'];
  const relocation = json['relocation'];
  return {
    credentialSets: Array.isArray(sets) ? sets.filter((name): name is string => typeof name === 'string') : [],
    ...(typeof serviceAccount === 'string' ? { serviceAccount } : {}),
    ...(isRecord(relocation) ? { relocation: stringsOf(relocation) } : {}),
  };
}

/** Given now beats kept; a choice that was not made this time is kept. */
export function mergeChoices(given: Choices, kept: Choices): Choices {
  const serviceAccount = given.serviceAccount ?? kept.serviceAccount;
  const relocation = given.relocation ?? kept.relocation;
  return {
    credentialSets: given.credentialSets.length > 0 ? given.credentialSets : kept.credentialSets,
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
    ...(relocation === undefined ? {} : { relocation }),
  };
}

export function keptFrom(record: ClaimRecord | undefined, reset: boolean): ClaimExtras {
  if (record === undefined || reset) return { overrides: {}, choices: NO_CHOICES, bundleDigest: '' };
  return claimExtras(record.claim);
}

/** The `custom` of a claim, in the form that `claimExtras` reads. */
export function customOfClaim(own: ClaimExtras): Json {
  return { [CUSTOM_KEY]: JSON.parse(JSON.stringify(own)) as Json };
}

export function customOfResult(own: ResultExtras): Json {
  return { [CUSTOM_KEY]: JSON.parse(JSON.stringify(own)) as Json };
}

export function resultExtras(result: Result): Partial<ResultExtras> {
  const { ran, exitCode, code, logComplete } = extras(result.custom);
  return {
    ...(ran === 'no' || ran === 'yes' || ran === 'unknown' ? { ran } : {}),
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof logComplete === 'boolean' ? { logComplete } : {}),
  };
}

function extras(custom: Json | undefined): Readonly<Record<string, Json>> {
  const own = isRecord(custom) ? custom[CUSTOM_KEY] : undefined;
  return isRecord(own) ? own : {};
}

function isRecord(json: unknown): json is Readonly<Record<string, Json>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function stringsOf(record: Readonly<Record<string, Json>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
