import { RESOURCES, type ResourceName } from './objects.js';

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** `metav1.Status`, the answer to every request that failed (and to a deletion that is done at once). */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Record<string, never>;
  readonly status: 'Failure' | 'Success';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** A request's refusal. Texts, reasons and details are those of a real API server (1.37), compared by hand. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details?: StatusDetails,
  ) {
    super(message);
  }

  get status(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    };
  }
}

/** `jobs.batch`, `pods`. */
function qualified(resource: ResourceName): string {
  const { group } = RESOURCES[resource];
  return group === '' ? resource : `${resource}.${group}`;
}

function detailsOf(resource: ResourceName, name: string): StatusDetails {
  const { group } = RESOURCES[resource];
  return { ...(name ? { name } : {}), ...(group ? { group } : {}), kind: resource };
}

export function notFound(resource: ResourceName, name: string): ApiError {
  return new ApiError(404, 'NotFound', `${qualified(resource)} "${name}" not found`, detailsOf(resource, name));
}

export function noSuchResource(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function methodNotAllowed(): ApiError {
  return new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

export function alreadyExists(resource: ResourceName, name: string): ApiError {
  return new ApiError(
    409,
    'AlreadyExists',
    `${qualified(resource)} "${name}" already exists`,
    detailsOf(resource, name),
  );
}

/** The object has another resource version than the one that was named. */
export function conflict(resource: ResourceName, name: string): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    detailsOf(resource, name),
  );
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message);
}

export function unauthorized(): ApiError {
  return new ApiError(401, 'Unauthorized', 'Unauthorized');
}

/** `problem` is what comes after `is forbidden: `. */
export function forbidden(resource: ResourceName, name: string, problem: string): ApiError {
  const subject = name === '' ? qualified(resource) : `${qualified(resource)} "${name}"`;
  return new ApiError(403, 'Forbidden', `${subject} is forbidden: ${problem}`, detailsOf(resource, name));
}

/** `kind` as in `Job.batch`; one cause for each field, in the order found. */
export function invalid(kind: string, name: string, causes: readonly StatusCause[]): ApiError {
  const sentences = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const text = sentences.length === 1 ? sentences[0] : `[${sentences.join(', ')}]`;
  const [bare = kind, group] = kind.split('.');
  const details = { name, ...(group ? { group } : {}), kind: bare, causes };
  return new ApiError(422, 'Invalid', `${kind} "${name}" is invalid: ${text}`, details);
}

export function expired(asked: number, oldest: number): ApiError {
  return new ApiError(410, 'Expired', `too old resource version: ${asked} (${oldest})`);
}

export function tooLargeResourceVersion(asked: number, current: number): ApiError {
  return new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

export function bodyTooLarge(limit: number): ApiError {
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);
}

/** The Warning header of a Job's deletion that names no policy. */
export const ORPHANS_WARNING =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';
