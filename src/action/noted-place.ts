import type { RunFolder } from '../claim/claim-store.js';
import type { RunState } from '../driver/driver.js';
import { noteDocument, type Outstanding } from './run-note.js';

/** Where a run is on its target, and what of it is outstanding, as its folder has it for whoever takes it up. */
export class NotedPlace {
  #state: RunState | undefined;
  readonly #outstanding: Outstanding | undefined;

  /** `noted`: what the folder has when the run is taken up. */
  constructor(
    private readonly folder: Pick<RunFolder, 'saveState'>,
    noted: { readonly state: RunState | undefined; readonly outstanding?: Outstanding },
  ) {
    this.#state = noted.state;
    this.#outstanding = noted.outstanding;
  }

  /** Undefined while nothing is on the target. */
  get state(): RunState | undefined {
    return this.#state;
  }

  /** What was outstanding when the run was taken up still is. */
  async moved(state: RunState): Promise<void> {
    await this.#save(state, this.#outstanding);
    this.#state = state;
  }

  async note(outstanding: Outstanding | undefined): Promise<void> {
    await this.#save(this.#state ?? {}, outstanding);
  }

  async #save(state: RunState, outstanding: Outstanding | undefined): Promise<void> {
    await this.folder.saveState(noteDocument({ state, ...(outstanding === undefined ? {} : { outstanding }) }));
  }
}
