import type { Operation } from '../driver.js';
import type { DriverSettings } from '../settings.js';
import { environmentProblems, refuse } from './environment.js';
import { parseImageReference, pinnedImage } from './image-reference.js';
import { inputPathProblems, outputPathProblems } from './input-paths.js';
import { inputSizeProblems } from './inputs.js';
import { isObjectName, labelProblem } from './names.js';
import { expectedWay } from './way.js';

/**
 * Refuses what a Job cannot carry, before anything is recorded or created. Throws CnabError `invalid`; the message names
 * parameters, credentials and outputs, never a value.
 */
export function checkOperation(operation: Operation, settings: DriverSettings): void {
  checkSettings(settings, operation.serviceAccount);
  pinnedImage(operation.image);
  expectedWay(operation, settings);
  refuse('the bundle cannot be run', [
    ...environmentProblems(operation.environment),
    ...inputPathProblems(operation.files, operation.serviceAccount !== undefined),
    ...inputSizeProblems(operation.files),
    ...outputPathProblems(operation.outputs),
  ]);
}

function checkSettings(settings: DriverSettings, serviceAccount: string | undefined): void {
  const problems: string[] = [];
  for (const [key, value] of Object.entries(settings.labels)) {
    const reason = labelProblem(key, value);
    if (reason !== undefined) problems.push(`label ${JSON.stringify(`${key}=${value}`)}: ${reason}`);
  }
  const { runAsUser } = settings;
  if (serviceAccount !== undefined && !isObjectName(serviceAccount)) {
    problems.push(`${JSON.stringify(serviceAccount)} is not a name that a service account can have`);
  }
  for (const name of settings.imagePullSecrets) {
    if (!isObjectName(name)) problems.push(`${JSON.stringify(name)} is not a name that an image pull secret can have`);
  }
  if (parseImageReference(settings.shellImage) === undefined) {
    problems.push(`the shell image ${JSON.stringify(settings.shellImage)} is not an image reference`);
  }
  if (runAsUser !== undefined && !(Number.isSafeInteger(runAsUser) && runAsUser >= 0 && runAsUser <= 2_147_483_647)) {
    problems.push(`${runAsUser} is not a user id (0 to 2147483647)`);
  }
  refuse('the settings of the run do not hold', problems);
}
