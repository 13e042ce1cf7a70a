import * as Flags from '@oclif/core/flags';
import { FORMATS } from './format.js';

/** Every flag has an environment variable; a flag beats it. */
function variable(name: string): string {
  return `CNAB_${name.toUpperCase().replaceAll('-', '_')}`;
}

export function text(
  name: string,
  description: string,
  more: { char?: 'c' | 'd' | 'n' | 'p' | 'o'; options?: string[]; aliases?: string[]; helpValue?: string } = {},
) {
  return Flags.string({ description, env: variable(name), ...more });
}

/** May be given several times; in its environment variable the values stand on lines of their own. */
export function texts(
  name: string,
  description: string,
  more: { char?: 'c' | 'p'; aliases?: string[]; helpValue?: string } = {},
) {
  return Flags.string({ description, env: variable(name), multiple: true, multipleNonGreedy: true, ...more });
}

export function yes(name: string, description: string, more: { char?: 'q' | 'a' } = {}) {
  return Flags.boolean({ description, env: variable(name), ...more });
}

/** The values of a flag of `texts`: the framework hands over a bare string when they came from the environment. */
export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? value.split('\n').filter((line) => line !== '') : value;
}

export const commonFlags = {
  quiet: yes('quiet', 'say nothing on stderr but errors', { char: 'q' }),
  debug: yes('debug', 'say more when something fails: causes and stacks'),
  'no-color': yes('no-color', 'no colours'),
};

export const outputFlags = {
  output: text('output', 'how to print the result', { char: 'o', options: [...FORMATS], helpValue: FORMATS.join('|') }),
  json: yes('json', 'the same as --output json'),
};

export const targetFlags = {
  driver: text('driver', 'what runs bundles: kubernetes or sandbox', { char: 'd', helpValue: 'NAME' }),
  context: text('context', 'context of the kubeconfig', { aliases: ['kube-context'], helpValue: 'NAME' }),
  namespace: text('namespace', "Kubernetes namespace (default: the context's)", { char: 'n', helpValue: 'NAME' }),
};
