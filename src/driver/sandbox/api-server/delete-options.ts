import { ApiError, badRequest } from './api-error.js';
import type { DeleteOptions } from './deletion.js';

const POLICIES = ['Background', 'Foreground', 'Orphan'] as const;

/** From the body, or without one from the query. Throws ApiError 400 or 422. */
export function deleteOptions(query: URLSearchParams, body: unknown): DeleteOptions {
  const given = (body ?? fromQuery(query)) as Readonly<Record<string, unknown>>;
  const { gracePeriodSeconds: grace, propagationPolicy: policy, preconditions } = given;
  if (grace !== undefined && grace !== null && !Number.isSafeInteger(grace)) {
    throw badRequest('DeleteOptions cannot be handled: json: cannot unmarshal gracePeriodSeconds as int64');
  }
  const propagationPolicy = POLICIES.find((name) => name === policy);
  if (policy !== undefined && propagationPolicy === undefined) {
    const values = POLICIES.map((name) => `"${name}"`).join(', ');
    const problem = `propagationPolicy: Unsupported value: ${JSON.stringify(policy)}: supported values: ${values}`;
    throw new ApiError(422, 'Invalid', `DeleteOptions.meta.k8s.io "" is invalid: ${problem}`);
  }
  return {
    ...(typeof grace === 'number' ? { gracePeriodSeconds: grace } : {}),
    ...(propagationPolicy ? { propagationPolicy } : {}),
    ...(preconditions ? { preconditions } : {}),
  };
}

function fromQuery(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const grace = query.get('gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: /^-?\d+$/.test(grace) ? Number(grace) : NaN }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
  };
}
