import { appliesTo, type Json } from '../bundle/bundle.js';
import { member, own } from '../bundle/own.js';
import { CUSTOM_KEY, type Claim, type ClaimRecord, type Installation, type Result } from '../claim/claim.js';
import { isModifying, isSensitiveParameter, neverRan } from '../claim/status.js';
import type { Choices } from './request.js';

/** What a claim's `custom` holds under our dotted name, beside the documents' own fields. */
export interface ClaimExtras {
  /** What the user set, as typed values: without the defaults, which a new bundle version may change. */
  readonly overrides: Readonly<Record<string, Json>>;
  readonly choices: Choices;
  readonly bundleDigest: string;
  /** Folder of the bundle, for the sandbox. */
  readonly bundleFolder?: string;
  /**
   * Names whose value in `parameters` or `overrides` is a secret, whatever the bundle says of them: it came from a sensitive
   * output, or is kept from a run under whose bundle it was one. `isSensitiveParameter` reads it.
   */
  readonly sensitiveParameters: readonly string[];
}

/** A parameter's value as earlier runs left it. */
export interface HeldValue {
  /** Undefined: it was not set. */
  readonly value: Json | undefined;
  /** By the claim that it was passed on with. */
  readonly sensitive: boolean;
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

/**
 * Reads what another version of this program, or another tool, may have written: what does not fit is absent.
 * `sensitiveParameters` are here the names of `overrides` that the claim holds as sensitive, be it by its bundle's word or by
 * its own note.
 */
export function claimExtras(claim: Claim): ClaimExtras {
  const { overrides, choices, bundleFolder, bundleDigest } = extras(claim.custom);
  const values = isRecord(overrides) ? overrides : {};
  return {
    overrides: values,
    choices: readChoices(choices),
    bundleDigest: typeof bundleDigest === 'string' ? bundleDigest : '',
    sensitiveParameters: Object.keys(values).filter((name) => isSensitiveParameter(claim, name)),
    ...(typeof bundleFolder === 'string' ? { bundleFolder } : {}),
  };
}

function readChoices(json: Json | undefined): Choices {
  if (!isRecord(json)) return NO_CHOICES;
  const { credentialSets: sets, serviceAccount, relocation } = json;
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

/** What of earlier choices still counts: what is given now is in its place. */
export function choicesLeft(given: Choices, kept: Choices): Choices {
  const { serviceAccount, relocation } = kept;
  return {
    credentialSets: given.credentialSets.length > 0 ? [] : kept.credentialSets,
    ...(serviceAccount === undefined || given.serviceAccount !== undefined ? {} : { serviceAccount }),
    ...(relocation === undefined || given.relocation !== undefined ? {} : { relocation }),
  };
}

export function keptFrom(record: ClaimRecord | undefined, reset: boolean): ClaimExtras {
  if (record === undefined || reset)
    return { overrides: {}, choices: NO_CHOICES, bundleDigest: '', sensitiveParameters: [] };
  return claimExtras(record.claim);
}

/**
 * What the runs since the last install passed on, by parameter. A run that did not concern a parameter says nothing of it,
 * so the last claim alone would not do.
 */
export function installedValues({ records }: Installation): ReadonlyMap<string, HeldValue> {
  const runs = records.filter((record) => isModifying(record.claim) && !neverRan(record));
  const values = new Map<string, HeldValue>();
  for (const { claim } of runs.slice(
    Math.max(
      0,
      runs.findLastIndex((run) => run.claim.action === 'install'),
    ),
  )) {
    for (const [name, parameter] of Object.entries(claim.bundle.parameters ?? {})) {
      if (!isRecord(parameter) || !appliesTo(parameter, claim.action)) continue;
      values.set(name, { value: own(claim.parameters, name), sensitive: isSensitiveParameter(claim, name) });
    }
  }
  return values;
}

/** The `custom` of a claim, in the form that `claimExtras` reads. */
export function customOfClaim(extras: ClaimExtras): Json {
  return { [CUSTOM_KEY]: JSON.parse(JSON.stringify(extras)) as Json };
}

export function customOfResult(extras: ResultExtras): Json {
  return { [CUSTOM_KEY]: JSON.parse(JSON.stringify(extras)) as Json };
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
  const found = member(custom, CUSTOM_KEY);
  return isRecord(found) ? found : {};
}

function isRecord(json: unknown): json is Readonly<Record<string, Json>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function stringsOf(record: Readonly<Record<string, Json>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
