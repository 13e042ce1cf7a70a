/** Who has claimed a place, and for which actions; finds out whether another claim meets an earlier one. */
export interface Scopes<Owner> {
  /** An owner whose actions meet these; absent or empty `applyTo` means all actions. */
  readonly meeting: (applyTo: readonly string[] | undefined) => Owner | undefined;
  readonly add: (applyTo: readonly string[] | undefined, owner: Owner) => void;
}

/** Looks up by action, so that thousands of entries for one place stay cheap. */
export function createScopes<Owner>(): Scopes<Owner> {
  let any: Owner | undefined;
  let forAll: Owner | undefined;
  const byAction = new Map<string, Owner>();
  return {
    meeting: (applyTo) => {
      if (applyTo === undefined || applyTo.length === 0) return any;
      for (const action of applyTo) {
        const owner = byAction.get(action);
        if (owner !== undefined) return owner;
      }
      return forAll;
    },
    add: (applyTo, owner) => {
      any ??= owner;
      if (applyTo === undefined || applyTo.length === 0) forAll ??= owner;
      else for (const action of applyTo) if (!byAction.has(action)) byAction.set(action, owner);
    },
  };
}
