import { oneLine } from './network-error.js';

/** What the status channel of an exec says at its end. */
export type ExecStatus =
  | { readonly kind: 'success' }
  /** The command ran and ended with this code, 1 to 255. */
  | { readonly kind: 'exit'; readonly code: number }
  /** It did not run, or how it ended is not known; `message`: the cluster's words, one line. */
  | { readonly kind: 'error'; readonly message: string };

/**
 * Reads a v1.Status as `remotecommand` writes it (apimachinery, `pkg/util/remotecommand`: reason NonZeroExitCode, cause
 * ExitCode). Undefined while it is not a whole document.
 */
export function readStatus(bytes: Uint8Array): ExecStatus | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isObject(value)) return { kind: 'error', message: 'a status without any content' };
  if (value['status'] === 'Success') return { kind: 'success' };
  const { details, message } = value;
  const causes: unknown = isObject(details) ? details['causes'] : undefined;
  const exit: unknown = Array.isArray(causes)
    ? causes.find((cause) => isObject(cause) && cause['reason'] === 'ExitCode')
    : undefined;
  const code = isObject(exit) ? Number(exit['message']) : NaN;
  if (Number.isInteger(code) && code > 0 && code < 256) return { kind: 'exit', code };
  return { kind: 'error', message: typeof message === 'string' ? oneLine(message).slice(0, 1000) : 'no reason given' };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
