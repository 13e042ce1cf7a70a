import type { Finding } from '../problem.js';
import type { BundleView } from '../view.js';
import { actionsRule } from './actions.js';
import { collisionsRule } from './collisions.js';
import { destinationsRule } from './destinations.js';
import { entryNamesRule } from './entry-names.js';
import { extensionsRule } from './extensions.js';
import { identityRule } from './identity.js';
import { imagesRule } from './images.js';
import { outputsRule } from './outputs.js';
import { referencesRule } from './references.js';
import { removedFieldsRule } from './removed.js';

/** Something that the spec's text demands and a JSON Schema cannot say. Pure; looks only at what has the right shape. */
export type Rule = (view: BundleView) => readonly Finding[];

export const RULES: readonly Rule[] = [
  identityRule,
  imagesRule,
  referencesRule,
  entryNamesRule,
  destinationsRule,
  collisionsRule,
  outputsRule,
  actionsRule,
  extensionsRule,
  removedFieldsRule,
];
