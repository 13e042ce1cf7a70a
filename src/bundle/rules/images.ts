import type { InvocationImage } from '../bundle.js';
import { error, quoted, warning, type Finding } from '../problem.js';
import { subjectOf } from '../subject.js';
import type { BundleView, Entry } from '../view.js';

/** Types that every runtime must support (spec 101); `oci` when none is given. */
const RUNNABLE = new Set(['oci', 'docker']);
const DIGEST_IN_REFERENCE = /@([a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,})$/;

/** Images need a reference and must not contradict themselves; a tag is not needed (the spec has no such rule). */
export function imagesRule(view: BundleView): readonly Finding[] {
  const findings = [
    ...view.invocationImages.flatMap((entry) => checkImage('invocationImages', entry)),
    ...view.images.flatMap((entry) => checkImage('images', entry)),
  ];
  const types = view.invocationImages.map(([, image]) => image.imageType ?? 'oci');
  if (types.length > 0 && !types.some((type) => RUNNABLE.has(type))) {
    findings.push(
      warning(
        ['invocationImages'],
        `no invocation image is of type "oci" or "docker": few runtimes know ${types.slice(0, 3).map(quoted).join(', ')}`,
      ),
    );
  }
  return findings;
}

function checkImage(section: string, [key, image]: Entry<InvocationImage>): readonly Finding[] {
  const subject = subjectOf([section, key]);
  if (image.image.trim() === '')
    return [error([section, key, 'image'], `${subject} has an empty reference: write one, as in "example/app:1.0.0"`)];
  if (/[\s\p{Cc}]/u.test(image.image)) {
    return [error([section, key, 'image'], `${subject} has a reference with white space in it: remove it`)];
  }
  const pinned = DIGEST_IN_REFERENCE.exec(image.image)?.[1];
  if (
    pinned !== undefined &&
    image.contentDigest !== undefined &&
    image.contentDigest !== '' &&
    pinned !== image.contentDigest
  ) {
    return [
      error(
        [section, key, 'contentDigest'],
        `${subject} is pinned to one digest in "image" and to another in "contentDigest": they must be equal`,
      ),
    ];
  }
  if (image.size !== undefined && image.size < 0)
    return [error([section, key, 'size'], `${subject} has a negative size: write its bytes or leave it out`)];
  return [];
}
