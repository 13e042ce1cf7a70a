import { StartError, type RunningContainer } from './container-runtime.js';
import { CHANNEL, type Channel, type ExecChannels } from './exec-channels.js';
import type { ExecQuery } from './exec-request.js';

/**
 * Runs a command in a container for one client and tells it how it ended. The process does not end with its client:
 * as under a real kubelet it goes on, and blocks for good once its pipe is full, until the container ends (seen with
 * containerd, which kills nothing and reads no more).
 */
export async function serveExec(
  container: RunningContainer,
  { command, stdout, stderr }: ExecQuery,
  channels: ExecChannels,
): Promise<void> {
  // An empty message on the lowest channel tells the client that it is connected.
  await channels.send(stdout ? CHANNEL.stdout : stderr ? CHANNEL.stderr : CHANNEL.status, new Uint8Array());
  const deliver =
    (channel: Channel, isWanted: boolean) =>
    async (chunk: Uint8Array): Promise<void> => {
      if (isWanted && !(await channels.send(channel, chunk))) await new Promise<never>(() => undefined);
    };
  const output = { stdout: deliver(CHANNEL.stdout, stdout), stderr: deliver(CHANNEL.stderr, stderr) };
  const status = await container.exec(command, { output }).then(endedWith, notStarted);
  await channels.send(CHANNEL.status, Buffer.from(JSON.stringify(status)));
  channels.close();
}

function endedWith(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

/** The two layers of a real kubelet: it wraps the runtime's error, and its own answer once more. */
function notStarted(error: unknown): object {
  if (!(error instanceof StartError)) throw error;
  const message = `Internal error occurred: error executing command in container: ${error.message}`;
  return {
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  };
}
