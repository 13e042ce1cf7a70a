import type { InvocationImage } from '../../bundle/bundle.js';
import { CnabError } from '../../errors.js';

/** Parts of a reference as the distribution project's grammar has them. */
export interface ImageReference {
  /** Host with its port, and path: `registry.example:5000/team/app`. */
  readonly repository: string;
  readonly tag?: string;
  readonly digest?: string;
}

const HOST =
  /^(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*)(?::[0-9]+)?$/;
const PATH_COMPONENT = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const TAG = /^[\w][\w.-]{0,127}$/;
const DIGEST = /^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-f]{32,}$/;
const HEX_LENGTH: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/** Undefined when the text is no image reference (`github.com/distribution/reference`). */
export function parseImageReference(text: string): ImageReference | undefined {
  const at = text.indexOf('@');
  const digest = at < 0 ? undefined : text.slice(at + 1);
  if (digest !== undefined && !isDigest(digest)) return undefined;
  const named = at < 0 ? text : text.slice(0, at);
  // A colon before the last slash belongs to a port, one after it to a tag.
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  const repository = colon < 0 ? named : named.slice(0, colon);
  if (tag !== undefined && !TAG.test(tag)) return undefined;
  if (!isRepository(repository)) return undefined;
  return { repository, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

/** Whether the text is a digest whose algorithm and length fit (`sha256:` and 64 hex digits …). */
export function isDigest(text: string): boolean {
  if (!DIGEST.test(text)) return false;
  const [algorithm = '', hex = ''] = text.split(':');
  const length = HEX_LENGTH[algorithm];
  return length === undefined || hex.length === length;
}

function isRepository(repository: string): boolean {
  const parts = repository.split('/');
  const [first = ''] = parts;
  const hasHost = parts.length > 1 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase());
  const path = hasHost ? parts.slice(1) : parts;
  return repository.length <= 255 && (!hasHost || HOST.test(first)) && path.every((part) => PATH_COMPONENT.test(part));
}

/**
 * The reference that is run: `repository[:tag]@digest` where the bundle gives a `contentDigest`, so that the container
 * runtime verifies it (spec 101: it MUST be verified before running).
 * Throws CnabError `invalid` when the reference or the digest is malformed, or both name different digests.
 */
export function pinnedImage(image: InvocationImage): string {
  const reference = parseImageReference(image.image);
  if (reference === undefined) {
    throw new CnabError('invalid', `the invocation image ${JSON.stringify(image.image)} is not an image reference`, {
      suggestions: ['correct "image" in the bundle: [registry[:port]/]name[:tag][@sha256:…], name in lower case'],
    });
  }
  const wanted = image.contentDigest;
  if (wanted === undefined || wanted === '') return image.image;
  if (!isDigest(wanted)) {
    throw new CnabError(
      'invalid',
      `the contentDigest ${JSON.stringify(wanted)} of the invocation image is not a digest`,
    );
  }
  if (reference.digest !== undefined && reference.digest !== wanted) {
    throw new CnabError(
      'invalid',
      `the invocation image ${image.image} and its contentDigest ${wanted} name different digests, so it is not run`,
    );
  }
  return reference.digest === undefined ? `${image.image}@${wanted}` : image.image;
}
