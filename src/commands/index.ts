import type { Command } from '@oclif/core/command';
import Version from './version.js';

/** Every command by its id; a colon stands for the blank between topic and command. */
export const COMMANDS: Readonly<Record<string, Command.Class>> = {
  version: Version,
};
