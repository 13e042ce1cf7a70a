import type { Claim } from '../claim/claim.js';
import { isModifying } from '../claim/status.js';
import { claimExtras } from './kept.js';

/**
 * What a run that was begun elsewhere brings into the records here, as sentences: later actions use it by themselves, and
 * nobody here chose it. None for one that changes nothing of what is installed.
 */
export function broughtBy(claim: Claim): readonly string[] {
  if (!isModifying(claim)) return [];
  const { bundle, id, installation } = claim;
  const { choices, overrides } = claimExtras(claim);
  const parameters = Object.keys(overrides);
  const images = bundle.invocationImages.map(({ image }) => image);
  const parts = [
    `bundle ${bundle.name} ${bundle.version} (${images.join(', ')})`,
    ...choices.credentialSets.map((set) => `credential set ${JSON.stringify(set)}`),
    ...(choices.serviceAccount === undefined ? [] : [`service account ${choices.serviceAccount}`]),
    ...(choices.relocation === undefined ? [] : ['a relocation mapping']),
    ...(parameters.length === 0 ? [] : [`values of the parameters ${parameters.join(', ')}`]),
  ];
  return [
    `run ${id} was begun elsewhere; recorded here, it brings ${parts.join(', ')}: the next action of "${installation}" uses them unless it is given others (--reset drops all but the bundle).`,
  ];
}
