import {
  BUILT_IN_ACTIONS,
  definitionOf,
  isSensitive,
  type Bundle,
  type Json,
  type LoadedBundle,
} from '../../bundle/bundle.js';
import { definitionType } from '../../bundle/definition-type.js';
import { document, withoutAbsent, type View } from '../format.js';
import { facts, table } from '../table.js';

/** `bundle show`: what a bundle is, what it needs and what it leaves. A default of a sensitive definition is not shown. */
export class BundleView implements View {
  constructor(private readonly loaded: LoadedBundle) {}

  toJson(): Json {
    const { bundle, digest } = this.loaded;
    return document('bundle show', {
      name: bundle.name,
      version: bundle.version,
      digest,
      description: bundle.description,
      invocationImages: bundle.invocationImages.map(({ image, imageType, contentDigest }) =>
        withoutAbsent({ image, imageType, contentDigest }),
      ),
      actions: actionsOf(bundle),
      parameters: parametersOf(bundle),
      credentials: credentialsOf(bundle),
      outputs: outputsOf(bundle),
      requiredExtensions: bundle.requiredExtensions,
    });
  }

  toText(): string {
    const { bundle, digest, origin } = this.loaded;
    const head = facts([
      ['Bundle', `${bundle.name} ${bundle.version}`],
      ['Description', bundle.description],
      ['From', origin],
      ['Digest', digest],
      ['Image', bundle.invocationImages.map(({ image }) => image).join(', ')],
      ['Needs', bundle.requiredExtensions?.join(', ')],
    ]);
    const sections = [
      section('ACTION', ['MODIFIES', 'STATELESS', 'DESCRIPTION'], actionsOf(bundle), [
        'modifies',
        'stateless',
        'description',
      ]),
      section('PARAMETER', ['TYPE', 'REQUIRED', 'DEFAULT', 'ACTIONS', 'DESCRIPTION'], parametersOf(bundle), [
        'type',
        'required',
        'default',
        'applyTo',
        'description',
      ]),
      section('CREDENTIAL', ['REQUIRED', 'ACTIONS', 'DESCRIPTION'], credentialsOf(bundle), [
        'required',
        'applyTo',
        'description',
      ]),
      section('OUTPUT', ['TYPE', 'SENSITIVE', 'ACTIONS', 'DESCRIPTION'], outputsOf(bundle), [
        'type',
        'sensitive',
        'applyTo',
        'description',
      ]),
    ];
    return [head, ...sections].filter((part) => part !== '').join('\n\n');
  }
}

type Row = { readonly [key: string]: Json };

function section(name: string, headings: readonly string[], rows: readonly Row[], keys: readonly string[]): string {
  if (rows.length === 0) return '';
  return table(
    [name, ...headings],
    rows.map((row) => [cell(row['name']), ...keys.map((key) => cell(row[key]))]),
  );
}

function cell(value: Json | undefined): string {
  if (value === undefined || value === false) return '';
  if (value === true) return 'yes';
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
    ? value.join(', ')
    : JSON.stringify(value);
}

function actionsOf({ actions }: Bundle): Row[] {
  const builtIn = BUILT_IN_ACTIONS.map((name) => ({ name, modifies: true, stateless: false }));
  const custom = Object.entries(actions ?? {}).map(([name, { modifies, stateless, title, description }]) =>
    withoutAbsent({
      name,
      modifies: modifies === true,
      stateless: stateless === true,
      title,
      description: description ?? title,
    }),
  );
  return [...builtIn, ...custom];
}

function parametersOf(bundle: Bundle): Row[] {
  return Object.entries(bundle.parameters ?? {}).map(([name, parameter]) => {
    const definition = definitionOf(bundle, parameter.definition);
    const sensitive = isSensitive(bundle, parameter.definition);
    const known = typeof definition === 'object' ? definition : {};
    return withoutAbsent({
      name,
      type: definitionType(definition),
      required: parameter.required === true && known['default'] === undefined,
      default: sensitive ? undefined : known['default'],
      sensitive,
      applyTo: parameter.applyTo,
      description: parameter.description ?? textOf(known['description']) ?? textOf(known['title']),
    });
  });
}

function credentialsOf(bundle: Bundle): Row[] {
  return Object.entries(bundle.credentials ?? {}).map(([name, { required, applyTo, description }]) =>
    withoutAbsent({ name, required: required === true, applyTo, description }),
  );
}

function outputsOf(bundle: Bundle): Row[] {
  return Object.entries(bundle.outputs ?? {}).map(([name, output]) => {
    const definition = definitionOf(bundle, output.definition);
    const known = typeof definition === 'object' ? definition : {};
    return withoutAbsent({
      name,
      type: definitionType(definition),
      path: output.path,
      sensitive: isSensitive(bundle, output.definition),
      applyTo: output.applyTo,
      description: output.description ?? textOf(known['description']),
    });
  });
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
