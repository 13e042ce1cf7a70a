import { delimiter } from 'node:path';
import { shellWord } from '../../bundle/shell-word.js';
import type { Connection } from './connection.js';

/** What leads kubectl to a cluster. */
export type KubectlWay = Pick<Connection, 'context' | 'kubeconfig' | 'isPrivate'>;

/**
 * A kubectl command to paste, by the way that the connection went. `words`: without `kubectl`, quoted where needed. Undefined
 * where kubectl has no way there.
 */
export function kubectl(words: string, { context, kubeconfig, isPrivate }: KubectlWay): string | undefined {
  if (isPrivate === true) return undefined;
  // The flag takes one file, the variable a list.
  const isList = kubeconfig?.includes(delimiter) === true;
  return [
    ...(isList ? [`KUBECONFIG=${shellWord(kubeconfig)}`] : []),
    `kubectl ${words}`,
    ...(kubeconfig === undefined || isList ? [] : [`--kubeconfig ${shellWord(kubeconfig)}`]),
    ...(context === undefined ? [] : [`--context ${shellWord(context)}`]),
  ].join(' ');
}

/** How to see what somebody may do, as lines. No namespace: in the whole cluster. */
export function checkWith(
  way: KubectlWay,
  namespace: string | undefined,
  ...what: readonly string[]
): readonly string[] {
  const where = namespace === undefined ? '' : ` -n ${namespace}`;
  const commands = what.flatMap((each) => kubectl(`auth can-i ${each}${where}`, way) ?? []);
  return commands.length === 0 ? [] : [`Check with: ${commands.join(' && ')}`];
}
