import net from 'node:net';
import { CnabError } from '../../errors.js';
import { isLoopback } from './connection.js';

/**
 * The proxy for a server by the environment, as Go's `httpproxy` and so kubectl reads it: HTTPS_PROXY for https
 * servers, HTTP_PROXY for http ones, in capitals or not; NO_PROXY and this machine are exceptions.
 */
export function proxyFromEnvironment(
  server: URL,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const names = server.protocol === 'https:' ? ['HTTPS_PROXY', 'https_proxy'] : ['HTTP_PROXY', 'http_proxy'];
  const proxy = names.map((name) => env[name]?.trim()).find((value) => value);
  if (!proxy || isLoopback(server.hostname)) return undefined;
  if (isExcepted(server, env['NO_PROXY'] ?? env['no_proxy'] ?? '')) return undefined;
  return proxy;
}

/**
 * `*`, a name (with its subdomains), `.name` (only the subdomains), an IP address, a CIDR range; each but the last
 * with an optional port.
 */
export function isExcepted(server: URL, noProxy: string): boolean {
  const host = server.hostname
    .replace(/^\[|\]$/g, '')
    .toLowerCase()
    .replace(/\.$/, '');
  const port = server.port === '' ? (server.protocol === 'https:' ? '443' : '80') : server.port;
  for (const raw of noProxy.split(',')) {
    const entry = raw.trim().toLowerCase();
    if (entry === '') continue;
    if (entry === '*') return true;
    if (entry.includes('/')) {
      if (inRange(host, entry)) return true;
      continue;
    }
    const [, bracketed, plain, wantedPort] = /^(?:\[([^\]]+)\]|([^:]*|[^:]*:[^:]*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
    const name = (bracketed ?? plain ?? '').replace(/^\*\./, '.');
    if (wantedPort !== undefined && wantedPort !== port) continue;
    if (net.isIP(name) !== 0) {
      if (sameAddress(name, host)) return true;
    } else if (name !== '' && (host === name || host.endsWith(name.startsWith('.') ? name : `.${name}`))) {
      return true;
    }
  }
  return false;
}

function inRange(host: string, range: string): boolean {
  const [address = '', bits = ''] = range.split('/');
  const family = net.isIP(address);
  if (family === 0 || net.isIP(host) !== family || !/^\d+$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new net.BlockList();
  list.addSubnet(address, Number(bits), type);
  return list.check(host, type);
}

function sameAddress(a: string, b: string): boolean {
  const family = net.isIP(a);
  return family === net.isIP(b) && inRange(b, `${a}/${family === 4 ? 32 : 128}`);
}

/** `where` names the setting. Throws CnabError `invalid`, without the text: it may hold a password. */
export function parseProxyUrl(text: string, where: string): URL {
  const withScheme = /^[a-z0-9+.-]+:\/\//i.test(text) ? text : `http://${text}`;
  let url: URL | undefined;
  try {
    url = new URL(withScheme);
    // The agent decodes them: a bare % in a password is a mistake of the user's (Go refuses it too).
    decodeURIComponent(url.username + url.password);
  } catch {
    url = undefined;
  }
  if (url === undefined || url.hostname === '' || !/^(https?|socks(4a?|5h?)?):$/.test(url.protocol)) {
    throw new CnabError('invalid', `${where} is not the URL of an http, https or socks5 proxy`, {
      suggestions: text.includes('%') ? ['Write a % in a user name or password as %25.'] : [],
    });
  }
  return url;
}
