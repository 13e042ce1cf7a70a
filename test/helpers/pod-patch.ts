import assert from 'node:assert/strict';
import type { V1PodTemplateSpec } from '@kubernetes/client-node';
import type { JsonObject } from '../../src/bundle/bundle.js';
import { checkOperation } from '../../src/driver/kubernetes/check.js';
import { planRun } from '../../src/driver/kubernetes/plan.js';
import { expectedWay } from '../../src/driver/kubernetes/way.js';
import type { Operation } from '../../src/driver/driver.js';
import { DEFAULT_SETTINGS } from '../../src/driver/settings.js';
import { CnabError } from '../../src/errors.js';
import { inputFile, operation } from './operation.js';

export const ATTEMPT = { number: 1, restricted: false };

/** The pod template of a run with that patch. */
export function patched(document: JsonObject, more: Partial<Operation> = {}): V1PodTemplateSpec {
  const settings = { ...DEFAULT_SETTINGS, podPatch: { document, file: 'pod.yaml' } };
  const asked = operation({ files: [inputFile('/etc/app.conf', 'x')], ...more });
  checkOperation(asked, settings);
  const { job, strict } = planRun({
    operation: asked,
    settings,
    attempt: ATTEMPT,
    way: expectedWay(asked, settings),
    annotations: {},
  });
  assert.equal(strict, true);
  return job.spec?.template as V1PodTemplateSpec;
}
/** What is wrong with a patch, all lines of it; empty when nothing is. */
export function problemsOf(document: JsonObject, more: Partial<Operation> = {}): string {
  try {
    patched(document, more);
  } catch (error) {
    assert.ok(error instanceof CnabError);
    assert.equal(error.code, 'invalid');
    assert.match(error.message, /pod patch pod\.yaml/);
    return [error.message, ...error.details].join('\n');
  }
  return '';
}
export const sidecar = (patch: JsonObject): JsonObject => ({
  spec: { initContainers: [{ name: 'outputs', ...patch }] },
});
export const invocation = (patch: JsonObject): JsonObject => ({
  spec: { containers: [{ name: 'invocation', ...patch }] },
});

export function spec(document: JsonObject): JsonObject {
  return document['spec'] as JsonObject;
}
