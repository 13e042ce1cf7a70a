import { isUninstalled } from '../claim/status.js';
import type { ExitCode } from '../cli/exit-codes.js';
import { outputFlags, targetFlags, yes } from '../cli/flags.js';
import { InstallationsView } from '../cli/views/installations.js';
import { matches } from '../cli/wiring/find-installation.js';
import { StoreCommand } from '../cli/wiring/store-command.js';
import { unfinishedNotes } from '../cli/wiring/unfinished-notes.js';

export default class List extends StoreCommand {
  static override summary = 'List (or: ls) installations on every target, from the record on this machine.';
  static override hiddenAliases = ['ls'];
  static override flags = {
    ...outputFlags,
    ...targetFlags,
    all: yes('all', 'uninstalled ones too', { char: 'a' }),
  };
  static override examples = [
    '<%= config.bin %> list',
    '<%= config.bin %> list --all --context prod -n payments',
    '<%= config.bin %> list --json',
    '<%= config.bin %> list --quiet   # names only',
  ];

  async run(): Promise<ExitCode> {
    const { flags } = await this.parse(List);
    const store = this.store;
    const asked = this.asked(flags);
    const targets = (await store.targets()).filter((target) => matches(target, asked));
    const lists = await Promise.all(targets.map(async (target) => ({ target, ...(await store.on(target).list()) })));
    const listed = lists
      .flatMap(({ target, installations }) => installations.map((installation) => ({ target, installation })))
      .filter(({ installation }) => flags.all || !isUninstalled(installation))
      .sort((a, b) => compare(a.installation.name, b.installation.name) || compare(a.target.label, b.target.label));
    const damaged = lists.flatMap((list) => list.damaged);
    const options = { now: Date.now(), namesOnly: flags.quiet };
    await this.print(new InstallationsView(listed, damaged, options), this.formatOf(flags));
    for (const { file, reason } of flags.quiet ? [] : damaged)
      await this.say(`warning: ${file} cannot be read: ${reason}`);
    for (const { target, installation } of flags.quiet ? [] : listed) {
      await this.note(flags, await unfinishedNotes(store.on(target), installation));
    }
    return 0;
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
