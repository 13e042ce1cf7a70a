import type { Decision } from './decision.js';
import type { PodHistory, PodOutcome } from './pod-verdict.js';

/** What ends the wait for a run; `lost`: it may go on, and nobody here will know how it ends. */
export type Ending = Decision | { readonly kind: 'lost'; readonly message: string };

export function outcomeOf(ending: Ending, history: PodHistory): PodOutcome {
  switch (ending.kind) {
    case 'verdict':
      return ending.outcome;
    case 'lost': {
      const problem = { code: 'contact-lost', message: ending.message } as const;
      return { status: 'unknown', ran: history.started ? 'yes' : 'unknown', problem, warnings: [] };
    }
    case 'restricted':
    case 'not-started':
      return { status: 'failed', ran: 'no', problem: { code: 'unavailable', message: ending.message }, warnings: [] };
  }
}
