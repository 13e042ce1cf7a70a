import { isBelow } from '../paths.js';
import { error, quoted, type Finding } from '../problem.js';
import { createScopes, type Scopes } from './scopes.js';

/** Something that wants a path or a variable. */
export interface Claimed {
  /** Of two the one with the higher order is to blame. */
  readonly order: number;
  readonly subject: string;
  readonly at: readonly string[];
  readonly text: string;
  readonly applyTo: readonly string[] | undefined;
}

/** Sorted by path, every path comes right after what it lies below, so one walk with the chain of those finds all. */
export function pathCollisions(claims: readonly Claimed[], verb: string): readonly Finding[] {
  const chain: { readonly path: string; readonly scopes: Scopes<Claimed> }[] = [];
  const findings: Finding[] = [];
  for (const claimed of sortedByPath(claims)) {
    const path = claimed.text;
    let top = chain.at(-1);
    while (top !== undefined && top.path !== path && !isBelow(path, top.path)) {
      chain.pop();
      top = chain.at(-1);
    }
    for (const link of chain) {
      const other = link.scopes.meeting(claimed.applyTo);
      if (other === undefined) continue;
      const [first, second] = other.order < claimed.order ? [other, claimed] : [claimed, other];
      const message =
        link.path === path
          ? `${first.subject} and ${second.subject} both ${verb} ${quoted(path)}: give each its own path`
          : `${claimed.subject} would lie at ${quoted(path)}, below ${quoted(link.path)}, which is the file of ${other.subject}: move one of them`;
      findings.push(error(second.at, message));
      break;
    }
    if (top === undefined || top.path !== path) {
      top = { path, scopes: createScopes<Claimed>() };
      chain.push(top);
    }
    top.scopes.add(claimed.applyTo, claimed);
  }
  return findings;
}

/** `/` sorts before every other character, so that `/a/b` follows `/a` and not `/a-b`. */
function sortedByPath(claims: readonly Claimed[]): readonly Claimed[] {
  return claims
    .map((claimed) => ({ claimed, key: claimed.text.replaceAll('/', '\0') }))
    .sort((left, right) =>
      left.key < right.key ? -1 : left.key > right.key ? 1 : left.claimed.order - right.claimed.order,
    )
    .map(({ claimed }) => claimed);
}
