import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const cluster = (name: string): string => fileURLToPath(new URL(`../../test/cluster/${name}`, import.meta.url));

/**
 * Runs `inside` in the network namespace of a node. Outside of it, this process starts a node (test/cluster/up) unless one
 * is up, runs itself again in there, and removes the node that it has started. Sets the exit code: 1 where `inside` is false or rejects.
 */
export async function onNode(program: string, inside: () => Promise<boolean>): Promise<void> {
  if (process.env['CNAB_SCRIPT_INSIDE'] !== undefined) {
    process.exitCode = (await inside()) ? 0 : 1;
    return;
  }
  const wasUp = spawnSync(cluster('enter'), ['true'], { stdio: 'ignore' }).status === 0;
  if (!wasUp && spawnSync(cluster('up'), { stdio: 'inherit' }).status !== 0) process.exit(1);
  try {
    const env = {
      ...process.env,
      CNAB_SCRIPT_INSIDE: '1',
      CNAB_CLUSTER_DIR: process.env['CNAB_CLUSTER_DIR'] ?? '/tmp/cnab-cluster',
    };
    const again = [process.execPath, '--import', 'tsx', fileURLToPath(program), ...process.argv.slice(2)];
    process.exitCode = spawnSync(cluster('enter'), again, { env, stdio: 'inherit' }).status ?? 1;
  } finally {
    if (!wasUp) spawnSync(cluster('down'), { stdio: 'inherit' });
  }
}
