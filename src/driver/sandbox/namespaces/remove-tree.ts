import { mustRun, runProgram } from './run-program.js';

/**
 * Removes a folder that a bundle has written in: folders without rights for their owner, paths longer than the kernel
 * takes at once. chmod(1) and rm(1) walk by descriptors and follow no link. Idempotent.
 */
export async function removeTree(folder: string): Promise<void> {
  const { code } = await runProgram(['rm', '-rf', '--', folder]);
  if (code === 0) return;
  await runProgram(['chmod', '-R', 'u+rwX', '--', folder]);
  await mustRun(['rm', '-rf', '--', folder]);
}
