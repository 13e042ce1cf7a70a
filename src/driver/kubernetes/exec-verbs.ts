import { sendCommand, type SendRequest } from '../../frame/sidecar.js';
import type { KubernetesApi } from './api.js';
import { runExec, type ExecEnd } from './exec-stream.js';
import { isNotFound, KubernetesError } from './kubernetes-error.js';
import type { LogSource } from './log-request.js';
import { RETRY_IDEMPOTENT, retrying } from './retry.js';

/** Exit code of `sendCommand`: the output is not what it was when the bundle ended. */
export const CHANGED = 3;
/** 64 hex digits and a newline. */
const DIGEST_BYTES = 65;
const ATTEMPTS = 3;

/** The sidecar need not hold its files any longer: it ends within a second or two. Rejects as `ask` does; a pod that is gone is none. */
export function letSidecarEnd(api: KubernetesApi, source: LogSource, signal: AbortSignal): Promise<void> {
  return tell(api, source, { verb: 'done' }, `let the sidecar of pod ${source.pod} end`, signal);
}

/** Tells the sidecar that the invocation has ended, where an injected container keeps the kubelet from it. Rejects as `ask` does. */
export function signalSidecar(api: KubernetesApi, source: LogSource, signal: AbortSignal): Promise<void> {
  return tell(api, source, { verb: 'term' }, `signal the sidecar of pod ${source.pod}`, signal);
}

async function tell(
  api: KubernetesApi,
  source: LogSource,
  request: SendRequest,
  doing: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await insist(api, signal, () => ask(api, source, request, 0, doing, signal));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** The pod's answer to a request for a digest or the salt: text. Rejects as `ask` does. */
export function askForDigest(
  api: KubernetesApi,
  source: LogSource,
  request: SendRequest & { readonly verb: 'digest' | 'salt' },
  signal: AbortSignal,
): Promise<string> {
  const doing = `ask pod ${source.pod} for the ${request.verb} of outputs`;
  return insist(api, signal, () => ask(api, source, request, DIGEST_BYTES, doing, signal));
}

function insist<T>({ clock, random }: KubernetesApi, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return retrying({ clock, random, signal, rule: RETRY_IDEMPOTENT, attempts: ATTEMPTS }, work);
}

/** One exec whose answer is short. Rejects with AbortError, or with KubernetesError: transient but where it was refused, or `CHANGED`. */
async function ask(
  api: KubernetesApi,
  source: LogSource,
  request: SendRequest,
  bytes: number,
  doing: string,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = [];
  const onData = (chunk: Buffer): void => void chunks.push(chunk);
  const end = await runExec(api, { source, command: sendCommand(request), doing, signal, bytes, onData });
  if (end.received < bytes || (bytes === 0 && end.status?.kind !== 'success')) {
    // Whatever else is said is about this exec: a shell that cannot fork ends with exit code 2.
    const transient = !(end.status?.kind === 'exit' && end.status.code === CHANGED);
    throw new KubernetesError('unavailable', `cannot ${doing}: ${reasonOf(end)}`, { transient });
  }
  return Buffer.concat(chunks).toString('latin1');
}

/** Why an exec did not bring what was asked for: one clause. */
export function reasonOf({ status, broken, stderr }: ExecEnd): string {
  const said = stderr === '' ? '' : ` (${stderr.slice(0, 300)})`;
  if (status?.kind === 'error') return status.message;
  // See send.sh.
  if (status?.kind === 'exit' && status.code === 2) return 'the sidecar has no such list of outputs any more';
  if (status?.kind === 'exit' && status.code === CHANGED) return 'an output is not what it was when the bundle ended';
  if (status?.kind === 'exit') return `the command in the pod ended with exit code ${status.code}${said}`;
  if (status?.kind === 'success') return 'the exec ended before all of its data had come';
  return `the exec ended early: ${broken ?? 'nobody knows why'}`;
}
