import type { ErrorCode } from '../../errors.js';

/** Whom a call spoke to, for the sentence. */
export interface Peer {
  readonly server: string;
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly user?: string;
}

export interface Explained {
  readonly code?: ErrorCode;
  /** A clause that goes on after `cannot …: `. */
  readonly sentence: string;
  readonly suggestions: readonly string[];
  /** Whether time may heal it. */
  readonly transient: boolean;
}

type Explain = (
  server: string,
  detail: string,
  context: string,
) => Omit<Explained, 'transient'> & { readonly lasting?: boolean };

const trust = 'Put the CA that signed it into the kubeconfig (certificate-authority-data).';
const untrusted: Explain = (server, detail) => ({
  sentence: `the certificate of ${server} is not signed by a known CA (${detail})`,
  suggestions: [trust],
  lasting: true,
});
const unreachable: Explain = (server, detail) => ({
  sentence: `${server} cannot be reached (${detail})`,
  suggestions: ['Check the network and the VPN.'],
});
const unresolved: Explain = (server, detail) => ({
  sentence: `the name of ${server} cannot be resolved (${detail})`,
  suggestions: ['Check the network, the VPN and the address in the kubeconfig.'],
});
const broken: Explain = (server, detail) => ({
  sentence: `the connection to ${server} broke (${detail})`,
  suggestions: ['Try again.'],
});
const late: Explain = (server, detail) => ({
  sentence: `${server} did not answer in time (${detail})`,
  suggestions: ['Check the network, the VPN and whether the cluster is up.'],
});
const tls: Explain = (server, detail) => ({
  sentence: `no TLS connection to ${server} (${detail})`,
  suggestions: ['Check that the address in the kubeconfig is that of the API server, and the client certificate.'],
  lasting: true,
});
const material: Explain = (server, detail) => ({
  code: 'invalid',
  sentence: `the certificates for ${server} in the kubeconfig are not usable (${detail})`,
  suggestions: ['Write the kubeconfig anew, or log in again.'],
  lasting: true,
});

const BY_CODE: Readonly<Record<string, Explain>> = {
  ECONNREFUSED: (server, _detail, context) => ({
    sentence: `${server} refused the connection`,
    suggestions: [`Is the cluster running, and is it the one that was meant${context}?`],
  }),
  ENOTFOUND: unresolved,
  EAI_AGAIN: unresolved,
  ETIMEDOUT: late,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EHOSTDOWN: unreachable,
  ENETDOWN: unreachable,
  EADDRNOTAVAIL: unreachable,
  ECONNRESET: broken,
  ECONNABORTED: broken,
  EPIPE: broken,
  ERR_STREAM_PREMATURE_CLOSE: broken,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_UNTRUSTED: untrusted,
  CERT_HAS_EXPIRED: (server) => ({
    sentence: `the certificate of ${server} has expired`,
    suggestions: ['Check the clock of this machine; else the certificate must be renewed on the cluster.'],
    lasting: true,
  }),
  CERT_NOT_YET_VALID: (server) => ({
    sentence: `the certificate of ${server} is not valid yet`,
    suggestions: ['Check the clock of this machine.'],
    lasting: true,
  }),
  ERR_TLS_CERT_ALTNAME_INVALID: (server, detail) => ({
    sentence: `the certificate of ${server} is for another name (${detail})`,
    suggestions: ['Use a name that the certificate has, or set tls-server-name in the kubeconfig.'],
    lasting: true,
  }),
  EPROTO: tls,
  PROXY: (server, detail) => ({
    sentence: `no way to ${server}: ${detail}`,
    suggestions: ['Check proxy-url in the kubeconfig, or HTTPS_PROXY and NO_PROXY in the environment.'],
  }),
};

/** Undefined for what is no trouble of network, TLS, DNS or certificate material: a bug, most likely. */
export function explainNetworkError(thrown: unknown, peer: Peer | undefined): Explained | undefined {
  const error = innermost(thrown);
  if (!(error instanceof Error)) return undefined;
  const server = peer?.server ?? 'the API server';
  const context = peer?.context === undefined ? '' : ` (context ${peer.context})`;
  const explain = explanationOf(error);
  if (explain === undefined) return undefined;
  const { lasting, ...explained } = explain(server, detailOf(error), context);
  return { ...explained, transient: lasting !== true };
}

function explanationOf(error: Error): Explain | undefined {
  if (error.name === 'DeadlineError') return late;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (Object.hasOwn(BY_CODE, code)) return BY_CODE[code];
  // llhttp: the peer does not speak HTTP, for example a TLS port spoken to in plain text.
  if (code.startsWith('HPE_')) return notHttp;
  if (/^ERR_OSSL_(PEM|X509|ASN1|EVP|DSO|RSA|EC|UNSUPPORTED|WRONG_TAG)|^ERR_OSSL_.*(KEY|CERT)/.test(code))
    return material;
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code.startsWith('CERT_')) return tls;
  return undefined;
}

const notHttp: Explain = (server, detail) => ({
  sentence: `what answers at ${server} does not speak HTTP (${detail})`,
  suggestions: ['Check the scheme (http or https) and the port in the kubeconfig.'],
  lasting: true,
});

/** Our own wrapper, and Node's AggregateError of an address with several IPs, carry the real one. */
function innermost(error: unknown): unknown {
  if (error instanceof Error && error.name === 'ExchangeError') return innermost(error.cause);
  if (error instanceof AggregateError && error.errors.length > 0 && !('code' in error))
    return innermost(error.errors[0]);
  return error;
}

/** OpenSSL's messages carry file names and line numbers of its source around the reason. */
function detailOf(error: Error): string {
  const openssl = /error:[0-9A-F]+:[^:]*:[^:]*:([^:\n]+)/i.exec(error.message);
  return oneLine(openssl?.[1] ?? error.message).slice(0, 300);
}

/** Text of others is hostile: control characters could drive the terminal; a sentence is one line. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
