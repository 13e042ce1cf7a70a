import { readFile } from 'node:fs/promises';
import type { Clock } from '../clock.js';
import { runExecPlugin } from './exec-plugin.js';
import { CredentialError } from './kubernetes-error.js';
import type { ExecPlugin, PluginCredential, PluginRun } from './exec-plugin.js';

/** What proves who the user is, for one request. */
export interface Proof {
  readonly token?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
}

/** Credentials that change while a run lasts. */
export interface CredentialProvider {
  /** Rejects with CredentialError. */
  proof(): Promise<Proof>;
  /** Forget what is cached. */
  forget(): void;
}

/** A mounted token is replaced about hourly; client-go reads it anew after a minute as well (transport/token_source.go). */
const TOKEN_FILE_MS = 60_000;
/** A credential that ends while the request is under way is of no use. */
const EXPIRY_MARGIN_MS = 10_000;

/** A token in a file, perhaps renewed by others. `fallback`: the token beside it in the kubeconfig. */
export function tokenFileProvider(file: string, fallback: string | undefined, clock: Clock): CredentialProvider {
  let cached: { readonly token: string; readonly at: number } | undefined;
  return {
    async proof() {
      if (cached !== undefined && clock.now() - cached.at < TOKEN_FILE_MS) return { token: cached.token };
      let token = fallback;
      try {
        token = (await readFile(file, 'utf8')).trim() || fallback;
      } catch (cause) {
        if (cached === undefined && fallback === undefined) {
          const code = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
          throw new CredentialError(`cannot read the token file ${file} (${code})`, { cause });
        }
        token ??= cached?.token;
      }
      if (token === undefined) throw new CredentialError(`the token file ${file} is empty`);
      cached = { token, at: clock.now() };
      return { token };
    },
    forget() {
      cached = undefined;
    },
  };
}

/** A credential plugin, run once for all requests until its credential expires or the server refuses it. */
export function pluginProvider(plugin: ExecPlugin, run: PluginRun, clock: Clock): CredentialProvider {
  let current: Promise<PluginCredential> | undefined;
  let isRunning = false;
  const start = (): Promise<PluginCredential> => {
    isRunning = true;
    const running = runExecPlugin(plugin, run).finally(() => (isRunning = false));
    // A failure is not kept: the user may log in meanwhile.
    running.catch(() => (current = undefined));
    return running;
  };
  return {
    async proof() {
      const seen = current;
      const expiresAt = (await seen)?.expiresAt ?? Infinity;
      if (current === seen && expiresAt - EXPIRY_MARGIN_MS <= clock.now()) current = undefined;
      return (current ??= start());
    },
    /** While the plugin runs the refused credential is one from before: several requests are refused at once, and nobody logs in twice. */
    forget() {
      if (!isRunning) current = undefined;
    },
  };
}
