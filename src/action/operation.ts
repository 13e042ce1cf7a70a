import { appliesTo, isSensitive, type Bundle, type Destination, type InvocationImage } from '../bundle/bundle.js';
import { rootedPath } from '../bundle/paths.js';
import { valueText } from '../bundle/values.js';
import type { Claim } from '../claim/claim.js';
import type { EnvironmentVariable, InputFile, Operation, WantedOutput } from '../driver/driver.js';
import type { ResolvedParameter } from './parameters.js';
import { traitsOf } from './permit.js';

export interface OperationParts {
  readonly claim: Claim;
  /** bundle.json as it was read. */
  readonly bundleSource: Uint8Array;
  readonly bundleFolder?: string;
  readonly image: InvocationImage;
  readonly parameters: readonly ResolvedParameter[];
  readonly credentials: ReadonlyMap<string, Uint8Array>;
  readonly relocation?: Readonly<Record<string, string>>;
  readonly serviceAccount?: string;
}

/** What the run tool finds when it starts (spec 103: environment and files), and what it is asked to leave behind. */
export function buildOperation(parts: OperationParts): Operation {
  const { claim, image } = parts;
  const { bundle } = claim;
  return {
    runId: claim.id,
    installation: claim.installation,
    action: claim.action,
    revision: claim.revision,
    bundleName: bundle.name,
    ...(traitsOf(bundle, claim.action).stateless ? { stateless: true } : {}),
    image,
    ...(parts.bundleFolder === undefined ? {} : { bundleFolder: parts.bundleFolder }),
    ...(parts.serviceAccount === undefined ? {} : { serviceAccount: parts.serviceAccount }),
    environment: environmentOf(parts),
    files: filesOf(parts),
    outputs: wantedOutputs(bundle, claim.action),
    record: utf8(JSON.stringify(claim)),
  };
}

/** The outputs that apply to the action; each of them is required unless its definition has a default (spec 101). */
export function wantedOutputs(bundle: Bundle, action: string): readonly WantedOutput[] {
  return Object.entries(bundle.outputs ?? {})
    .filter(([, output]) => appliesTo(output, action))
    .map(([name, output]) => ({ name, path: output.path, sensitive: isSensitive(bundle, output.definition) }));
}

function environmentOf({ claim, parameters, credentials }: OperationParts): readonly EnvironmentVariable[] {
  const { bundle } = claim;
  const injected: EnvironmentVariable[] = [];
  for (const [destination, value, source] of injections(bundle, parameters, credentials)) {
    if (destination.env !== undefined) injected.push({ name: destination.env, value, source });
  }
  // Last, and validation refuses destinations that begin with CNAB_, so a bundle cannot forge them.
  const builtIn: Record<string, string> = {
    CNAB_INSTALLATION_NAME: claim.installation,
    CNAB_BUNDLE_NAME: bundle.name,
    CNAB_BUNDLE_VERSION: bundle.version,
    CNAB_ACTION: claim.action,
    CNAB_REVISION: claim.revision,
    CNAB_CLAIMS_VERSION: 'CNAB-Claims-1.0.0',
  };
  const taken = new Set(Object.keys(builtIn));
  return [
    ...injected.filter(({ name }) => !taken.has(name)),
    ...Object.entries(builtIn).map(([name, text]) => ({ name, value: utf8(text), source: 'the CNAB runtime' })),
  ];
}

function filesOf(parts: OperationParts): readonly InputFile[] {
  const { claim, bundleSource, parameters, credentials, relocation } = parts;
  const open = (path: string, content: Uint8Array): InputFile => ({
    path,
    content,
    access: 'public',
    source: 'the CNAB runtime',
  });
  const files: InputFile[] = [
    open('/cnab/bundle.json', bundleSource),
    open('/cnab/claim.json', utf8(JSON.stringify(withoutNotes(claim)))),
    open('/cnab/app/image-map.json', utf8(JSON.stringify(claim.bundle.images ?? {}))),
    ...(relocation === undefined ? [] : [open('/cnab/app/relocation-mapping.json', utf8(JSON.stringify(relocation)))]),
  ];
  for (const [destination, value, source] of injections(claim.bundle, parameters, credentials)) {
    if (destination.path !== undefined)
      files.push({ path: rootedPath(destination.path), content: value, access: 'private', source });
  }
  return files;
}

/** The claim as the spec has it: what we note in `custom` tells of the machine, the paths of sets and of the bundle. */
function withoutNotes({ custom: _, ...claim }: Claim): Claim {
  return claim;
}

function* injections(
  bundle: Bundle,
  parameters: readonly ResolvedParameter[],
  credentials: ReadonlyMap<string, Uint8Array>,
): Iterable<readonly [Destination, Uint8Array, string]> {
  for (const { name, value } of parameters) {
    const parameter = bundle.parameters?.[name];
    if (parameter !== undefined) yield [parameter.destination, utf8(valueText(value)), `parameter "${name}"`];
  }
  for (const [name, value] of credentials) {
    const credential = bundle.credentials?.[name];
    if (credential !== undefined) yield [credential, value, `credential "${name}"`];
  }
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}
