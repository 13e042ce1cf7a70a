import { actionFlags } from './action-flags.js';
import { outputFlags, targetFlags, text } from './flags.js';

/** Flags of every command that is about a run which is on its target already. */
export const begunFlags = {
  ...targetFlags,
  kubeconfig: actionFlags.kubeconfig,
  run: text('run', 'this run (default: the newest that has no end)', { helpValue: 'ID|last' }),
};

/** Flags of the commands that settle such a run. */
export const takeUpFlags = {
  ...begunFlags,
  ...outputFlags,
  'keep-job': actionFlags['keep-job'],
  'outputs-dir': actionFlags['outputs-dir'],
  'include-sensitive': actionFlags['include-sensitive'],
};
