import type { ResourceName } from './objects.js';
export function validate(_r: ResourceName, _o: unknown): void {}
