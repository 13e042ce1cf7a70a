import type { Command } from '@oclif/core/command';
import BundleShow from './bundle/show.js';
import BundleValidate from './bundle/validate.js';
import Forget from './forget.js';
import History from './history.js';
import Install from './install.js';
import Invoke from './invoke.js';
import List from './list.js';
import Logs from './logs.js';
import OutputsList from './outputs/list.js';
import OutputsShow from './outputs/show.js';
import Resume from './resume.js';
import Show from './show.js';
import Uninstall from './uninstall.js';
import Upgrade from './upgrade.js';
import Version from './version.js';
import Wait from './wait.js';

/** Every command by its id; a colon stands for the blank between topic and command. */
export const COMMANDS: Readonly<Record<string, Command.Class>> = {
  'bundle:show': BundleShow,
  'bundle:validate': BundleValidate,
  forget: Forget,
  history: History,
  install: Install,
  invoke: Invoke,
  list: List,
  logs: Logs,
  'outputs:list': OutputsList,
  'outputs:show': OutputsShow,
  resume: Resume,
  show: Show,
  uninstall: Uninstall,
  upgrade: Upgrade,
  version: Version,
  wait: Wait,
};
