import type { Bundle, InvocationImage } from '../bundle/bundle.js';
import { CnabError } from '../errors.js';

export interface ChosenImage {
  readonly image: InvocationImage;
  readonly warnings: readonly string[];
}

/**
 * The first invocation image, in the bundle's order, that the driver runs (spec 103), after relocation.
 * The relocated reference keeps the original contentDigest: relocation does not change bytes.
 * Throws CnabError `invalid` when no image fits or the mapping lacks the image.
 */
export function chooseImage(
  bundle: Bundle,
  handles: (imageType: string) => boolean,
  relocation: Readonly<Record<string, string>> | undefined,
): ChosenImage {
  const image = bundle.invocationImages.find((candidate) => handles(candidate.imageType ?? 'oci'));
  if (image === undefined) {
    const types = [...new Set(bundle.invocationImages.map((candidate) => candidate.imageType ?? 'oci'))];
    throw new CnabError(
      'invalid',
      `no invocation image of bundle ${bundle.name} ${bundle.version} can be run by this driver: its types are ${types.join(', ')}.`,
    );
  }
  if (relocation !== undefined && !Object.hasOwn(relocation, image.image)) {
    throw new CnabError('invalid', `the relocation mapping has no entry for the invocation image ${image.image}.`, {
      suggestions: [
        'Its keys are the references exactly as bundle.json has them.',
        'A mapping of an earlier run is kept: give one for this bundle with --relocation-mapping, or drop it with --reset.',
      ],
    });
  }
  const reference = relocation?.[image.image] ?? image.image;
  const { contentDigest = '', ...rest } = image;
  return {
    image: { ...rest, image: reference, ...(contentDigest === '' ? {} : { contentDigest }) },
    warnings:
      contentDigest === ''
        ? [`invocation image ${reference} has no contentDigest: what runs is whatever that reference means today.`]
        : [],
  };
}
