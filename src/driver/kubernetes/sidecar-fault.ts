import type { FaultKind } from '../../frame/grammar.js';
import type { Operation } from '../driver.js';
import type { JobFacts } from './job-facts.js';

/** Why the sidecar gave up before the bundle started, as a sentence; undefined when it did not. */
export function sidecarFault(
  fault: { readonly what: FaultKind; readonly detail: string } | undefined,
  operation: Pick<Operation, 'files'>,
  facts: Pick<JobFacts, 'shellImage'>,
): string | undefined {
  switch (fault?.what) {
    case undefined:
      return undefined;
    case 'tool':
      return `the shell image ${facts.shellImage} has no usable ${fault.detail}, so outputs could not be collected: name another one with --shell-image`;
    case 'input': {
      const file = operation.files[Number(fault.detail)];
      return `${file?.source ?? 'an input file'} could not be put in place in the pod`;
    }
    case 'scratch':
      return `the outputs sidecar could not write to its memory volume (${fault.detail})`;
  }
}
