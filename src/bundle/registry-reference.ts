const SCHEME = /^(?:oci|docker|https?):\/\//i;
const DIGEST = /@sha256:[0-9a-f]*$/i;
const TAGGED = /^[a-z0-9][a-z0-9._-]*(?::\d+)?(?:\/[a-z0-9._-]+)*:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const HOSTED = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)+|localhost)(?::\d+)?(?:\/[a-z0-9._-]+)+$/;
const FILE_NAME = /\.(?:json|ya?ml|tgz|tar|gz)$/i;

/** True for a text that names no file and reads like an image reference: `ghcr.io/example/app:1.0`, `example/app@sha256:…`. */
export function isRegistryReference(reference: string): boolean {
  if (SCHEME.test(reference)) return true;
  if (/^[./~]/.test(reference) || FILE_NAME.test(reference)) return false;
  return DIGEST.test(reference) || TAGGED.test(reference) || HOSTED.test(reference);
}
