import { OUTPUTS_FOLDER } from '../../bundle/bundle.js';
import type { InputFile, WantedOutput } from '../driver.js';

const RUN_TOOL = '/cnab/app/run';
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Folders that every container has: a file mounted over one ends in StartError, exit code 128 (seen on a kubelet). */
const FOLDERS = new Set([
  '/',
  '/cnab',
  '/cnab/app',
  OUTPUTS_FOLDER,
  '/dev',
  '/etc',
  '/proc',
  '/sys',
  '/bin',
  '/usr',
  '/tmp',
  '/var',
  '/root',
  '/home',
]);

/** Linux's PATH_MAX and NAME_MAX. */
const MAX_PATH_BYTES = 4095;
const MAX_COMPONENT_BYTES = 255;

/** What cannot be mounted as a file of its own, one sentence each; each names the parameter or credential. */
export function inputPathProblems(files: readonly InputFile[], hasServiceAccount: boolean): string[] {
  const problems: string[] = [];
  const bySource = new Map<string, string>();
  for (const file of files) {
    const reason = pathProblem(file.path) ?? placeProblem(file.path, hasServiceAccount);
    if (reason !== undefined) problems.push(`${file.source}: the path ${JSON.stringify(file.path)} ${reason}`);
    const other = bySource.get(file.path);
    if (other !== undefined)
      problems.push(`${file.source}: the path ${JSON.stringify(file.path)} is already taken by ${other}`);
    bySource.set(file.path, file.source);
  }
  for (const file of files) {
    for (const folder of parents(file.path)) {
      const other = bySource.get(folder);
      if (other === undefined) continue;
      problems.push(
        `${file.source}: the path ${JSON.stringify(file.path)} is below ${JSON.stringify(folder)}, which is the file of ${other}`,
      );
    }
  }
  return problems;
}

/** Wanted outputs travel to the sidecar as text, so what text cannot hold is refused here. */
export function outputPathProblems(outputs: readonly WantedOutput[]): string[] {
  const problems: string[] = [];
  for (const output of outputs) {
    const name = `output ${JSON.stringify(output.name)}`;
    const reason = pathProblem(output.path);
    if (reason !== undefined) problems.push(`${name}: the path ${JSON.stringify(output.path)} ${reason}`);
    else if (!output.path.startsWith(`${OUTPUTS_FOLDER}/`))
      problems.push(`${name}: the path ${JSON.stringify(output.path)} is not below ${OUTPUTS_FOLDER}`);
  }
  return problems;
}

function pathProblem(path: string): string | undefined {
  if (!path.startsWith('/')) return 'is not absolute';
  if (path.includes('\0')) return 'holds a NUL character, which no file name can';
  if (/\p{Cs}/u.test(path)) return 'holds half of a surrogate pair, which no file name can';
  const components = path.split('/').slice(1);
  if (path !== '/' && components.at(-1) === '') return 'is a folder: it ends with a slash';
  if (path !== '/' && components.some((part) => part === '' || part === '.' || part === '..'))
    return 'is not clean: it has an empty, "." or ".." part';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  if (components.some((part) => Buffer.byteLength(part) > MAX_COMPONENT_BYTES))
    return `has a part that is longer than ${MAX_COMPONENT_BYTES} bytes`;
  return undefined;
}

function placeProblem(path: string, hasServiceAccount: boolean): string | undefined {
  if (FOLDERS.has(path)) return 'is a folder';
  if (path === RUN_TOOL || path.startsWith(`${RUN_TOOL}/`)) return 'is the run tool itself or below it';
  if (isBelow(path, OUTPUTS_FOLDER)) return `is below ${OUTPUTS_FOLDER}, which is for outputs (spec 101)`;
  if (isBelow(path, '/proc') || isBelow(path, '/sys')) return 'belongs to the kernel: no file can be mounted there';
  if (hasServiceAccount && isBelow(path, SERVICE_ACCOUNT_FOLDER)) return 'is where the service account token goes';
  if (!hasServiceAccount && path === SERVICE_ACCOUNT_FOLDER) return 'is a folder';
  return undefined;
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);

function parents(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}
