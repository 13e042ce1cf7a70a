import type { Shape } from './shapes.js';
import type { StartCounter } from './start-counter.js';

/** Where killed runs are tried: the sandbox, or a real cluster. */
export interface Place {
  readonly name: 'sandbox' | 'node';
  readonly counter: StartCounter;
  /** Makes an empty home; `environment` of a command in it. */
  newHome(): string;
  environment(home: string): NodeJS.ProcessEnv;
  /** Flags that every acting command gets. */
  readonly flags: readonly string[];
  /** Folder of a bundle whose run tool is `runToolOf(shape, …)`. */
  bundle(shape: Shape, stubborn: boolean): string;
  /** True where another home finds the run: on a cluster, not in the sandbox, whose server belongs to a home. */
  readonly outlivesHome: boolean;
  /** Names of Jobs, pods and Secrets of a run that are still there and not being deleted. */
  left(home: string, installation: string): Promise<readonly string[]>;
  /** Frees what a home holds. */
  leave(home: string): Promise<void>;
  close(): Promise<void>;
}
