import * as Flags from '@oclif/core/flags';
import { variableOf } from './flag-values.js';
import { FORMATS } from './format.js';

export function text(
  name: string,
  description: string,
  more: { char?: 'c' | 'd' | 'n' | 'p' | 'o'; options?: string[]; aliases?: string[]; helpValue?: string } = {},
) {
  return Flags.string({ description, env: variableOf(name), ...more });
}

/** May be given several times; in its environment variable the values stand on lines of their own. */
export function texts(
  name: string,
  description: string,
  more: { char?: 'c' | 'p'; aliases?: string[]; helpValue?: string } = {},
) {
  return Flags.string({ description, env: variableOf(name), multiple: true, multipleNonGreedy: true, ...more });
}

export function yes(name: string, description: string, more: { char?: 'q' | 'a' | 'f' | 'y' } = {}) {
  return Flags.boolean({ description, env: variableOf(name), ...more });
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
