import { createSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './case.js';
import type { OwnNode } from './node.js';

const LEEWAY_S = 60;
const ISSUER = 'https://kubernetes.default.svc.cluster.local';

/**
 * A token of a service account that is good for so many seconds: the API gives none below ten minutes, so it is signed
 * with the node's own key. The API server forgives a minute (go-jose's leeway), which is taken off here, and remembers a
 * good one for up to 10 s longer.
 */
export function shortToken(node: OwnNode, one: Case, account: { name: string; uid: string }, seconds: number): string {
  const now = Math.floor(Date.now() / 1000);
  const { namespace } = one;
  const claims = {
    ...{ iss: ISSUER, aud: [ISSUER], sub: `system:serviceaccount:${namespace}:${account.name}` },
    ...{ iat: now - 120, nbf: now - 120, exp: now + seconds - LEEWAY_S },
    'kubernetes.io': { namespace, serviceaccount: account },
  };
  const text = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => base64url(JSON.stringify(part))).join('.');
  const signature = createSign('RSA-SHA256')
    .update(text)
    .sign(readFileSync(join(node.keys, 'sa.key')));
  return `${text}.${signature.toString('base64url')}`;
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url');
