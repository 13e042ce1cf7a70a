import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.js';
import type { BegunRun, OperationResult } from '../driver.js';
import type { KubernetesApi } from './api.js';
import { holdRun, type How } from './hold-run.js';
import { hostOf, type Holder } from './holder.js';
import { RunHold } from './run-hold.js';

/** The process, as it is named on the Jobs of its runs. */
export type NamedProcess = Pick<Holder, 'host' | 'pid'>;

/** The holds of one process on its runs, each until its run is released or left. */
export class Holds {
  readonly own: Holder | undefined;
  readonly #clock: Clock;
  readonly #holds = new Map<string, RunHold>();
  readonly #unnamed = new Set<string>();

  /** `named` absent: nobody else can see the runs of this process, and nothing is told. */
  constructor(named: NamedProcess | undefined, clock: Clock) {
    this.#clock = clock;
    if (named === undefined) return;
    const { host, pid } = named;
    this.own = {
      id: randomBytes(16).toString('hex'),
      host: hostOf(host),
      pid,
      since: new Date(clock.now()).toISOString(),
      beats: true,
      beat: 0,
    };
  }

  /** Before a run is taken up: as `holdRun`. Its Job may name another process yet, where it may not be patched. */
  async take(api: KubernetesApi, run: Pick<BegunRun, 'runId' | 'state'>, how: How): Promise<void> {
    if (this.own !== undefined && !(await holdRun(api, run, this.own, how))) this.#unnamed.add(run.runId);
  }

  /** `stays` false: whoever comes later need not ask for it. */
  on(runId: string, stays = true): RunHold {
    const hold = new RunHold(stays && !this.#unnamed.has(runId) ? this.own : undefined, this.#clock);
    this.#holds.set(runId, hold);
    return hold;
  }

  /** What is wanted of the run later on is wanted by others too. */
  async after(
    { runId, action }: Pick<BegunRun, 'runId' | 'action'>,
    result: OperationResult,
  ): Promise<OperationResult> {
    const hold = this.#holds.get(runId);
    if (result.status === 'running' || result.keep === true) await hold?.end({ leaves: true });
    return hold?.told(action, result) ?? result;
  }

  /** False where another process has the run. Rejects as `RunHold.isOurs`. */
  async release(runId: string): Promise<boolean> {
    const hold = this.#holds.get(runId);
    await hold?.end({ leaves: false });
    return (await hold?.isOurs()) ?? true;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#holds.values()].map((hold) => hold.end({ leaves: true })));
  }
}
