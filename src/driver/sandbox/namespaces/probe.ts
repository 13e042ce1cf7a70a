import { access, readFile } from 'node:fs/promises';
import { arch } from 'node:process';
import { CnabError } from '../../../errors.js';
import { SYSTEM_PATH } from './launch-line.js';
import { outsideIdentity } from './outside-identity.js';
import { runProgram } from './run-program.js';
import { freshKeyringLine, hasSessionKeyring } from './session-keyring.js';

/** What decides whether this machine lets its user make namespaces. Absent numbers: the kernel has no such switch. */
export interface ProbeFacts {
  readonly platform: string;
  readonly uid: number;
  readonly missingPrograms: readonly string[];
  /** Root has an uid other than 0 to run a bundle as; always true for anybody else. */
  readonly hasOutsideIdentity: boolean;
  /** There is a session keyring that a bundle would inherit, and no program that makes a new one. */
  readonly keyringWouldPass: boolean;
  /** Complaint of a trial with all the namespaces that a container has; absent: it worked, or it was not made. */
  readonly complaint?: string;
  /** /proc/sys/user/max_user_namespaces. */
  readonly maxUserNamespaces?: number;
  /** /proc/sys/kernel/unprivileged_userns_clone (Debian's and Arch's kernels). */
  readonly unprivilegedClone?: number;
  /** /proc/sys/kernel/apparmor_restrict_unprivileged_userns (Ubuntu 23.10 and later). */
  readonly appArmorRestricts?: number;
  /** /proc/self/status: 2 when a seccomp filter is in force. */
  readonly seccomp?: number;
  readonly inContainer: boolean;
}

const PROGRAMS = [
  ...['sh', 'env', 'grep', 'sed', 'mkfifo', 'chown', 'chmod', 'rm'],
  ...['unshare', 'nsenter', 'setpriv', 'prlimit', 'mount', 'umount', 'pivot_root'],
];
const CLUSTER = 'or run the bundle on a cluster: leave out --driver sandbox';

/** Rejects with CnabError `unavailable` where namespaces are not to be had: which rule forbids them, and what to do. Makes nothing that lasts. */
export async function probe(platform: string, uid: number): Promise<void> {
  const problem = explain(await gatherFacts(platform, uid));
  if (problem !== undefined) throw problem;
}

/** Pure: the one rule that is in the way, from the most to the least specific. */
export function explain(facts: ProbeFacts): CnabError | undefined {
  const { complaint, uid } = facts;
  const refuse = (why: string, ...suggestions: string[]): CnabError =>
    new CnabError('unavailable', `the sandbox cannot run here: ${why}`, { suggestions: [...suggestions, CLUSTER] });
  if (facts.platform !== 'linux') return refuse(`it needs the namespaces of Linux, and this is ${facts.platform}`);
  if (facts.missingPrograms.length > 0) {
    const names = facts.missingPrograms.join(', ');
    return refuse(`${names} not found in ${SYSTEM_PATH}`, 'install util-linux and coreutils');
  }
  if (!facts.hasOutsideIdentity) {
    return refuse(
      'root of this user namespace has no other uid that a bundle could run as',
      'run cnab as another user',
    );
  }
  if (facts.keyringWouldPass) {
    return refuse(
      `the bundle would inherit your session keyring (keyrings(7)), and neither perl nor keyctl is in ${SYSTEM_PATH} to give it an empty one`,
      'install perl or keyutils',
    );
  }
  if (complaint === undefined) return undefined;
  if (/(?:unrecognized|invalid|unknown) option/i.test(complaint)) {
    return refuse('its unshare(1) is not the one of util-linux 2.36 or later', 'install util-linux');
  }
  if (facts.maxUserNamespaces === 0) {
    return refuse(
      'user.max_user_namespaces is 0, so nobody may make a user namespace',
      'as root: sysctl -w user.max_user_namespaces=15000',
    );
  }
  if (/no space left/i.test(complaint)) {
    return refuse(
      'the limit on namespaces is reached, of one kind or of all (sysctl user.max_*_namespaces)',
      'look at: sysctl -a --pattern max_.*_namespaces',
    );
  }
  if (facts.inContainer) {
    return refuse(
      `this is a container whose security profile forbids namespaces (${complaint})`,
      'start the container with: --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined' +
        (uid === 0 ? ' --cap-add SYS_ADMIN' : ''),
    );
  }
  if (uid !== 0 && facts.unprivilegedClone === 0) {
    return refuse(
      'kernel.unprivileged_userns_clone is 0, so only root may make a user namespace',
      'as root: sysctl -w kernel.unprivileged_userns_clone=1',
    );
  }
  if (uid !== 0 && facts.appArmorRestricts === 1) {
    return refuse(
      "AppArmor's rule kernel.apparmor_restrict_unprivileged_userns (Ubuntu) takes all rights from user namespaces",
      'as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0',
    );
  }
  if (facts.seccomp === 2)
    return refuse(`a seccomp filter of the process that started this one forbids namespaces (${complaint})`);
  return refuse(`namespaces cannot be made (${complaint})`);
}

export async function gatherFacts(platform: string, uid: number): Promise<ProbeFacts> {
  if (platform !== 'linux') {
    return {
      ...{ platform, uid, missingPrograms: [], hasOutsideIdentity: true },
      ...{ keyringWouldPass: false, inContainer: false },
    };
  }
  const missingPrograms = await missing(PROGRAMS);
  const uidMap = await readFile('/proc/self/uid_map', 'utf8').catch(() => '');
  const hasOutsideIdentity = outsideIdentity(uid, uidMap, '') !== undefined;
  const keyringWouldPass = (await freshKeyringLine(arch)).length === 0 && (await hasSessionKeyring());
  const trial = missingPrograms.length > 0 ? undefined : await runProgram(trialLine(uid));
  if (trial === undefined || trial.code === 0)
    return { platform, uid, missingPrograms, hasOutsideIdentity, keyringWouldPass, inContainer: false };
  const [maxUserNamespaces, unprivilegedClone, appArmorRestricts, seccomp, inContainer] = await Promise.all([
    readNumber('/proc/sys/user/max_user_namespaces'),
    readNumber('/proc/sys/kernel/unprivileged_userns_clone'),
    readNumber('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    readNumber('/proc/self/status', /^Seccomp:\s*(\d+)/m),
    isContainer(),
  ]);
  return {
    platform,
    uid,
    missingPrograms,
    hasOutsideIdentity,
    keyringWouldPass,
    complaint: trial.stderr.split('\n')[0] || `exit code ${trial.code ?? 'none'}`,
    inContainer,
    ...(maxUserNamespaces === undefined ? {} : { maxUserNamespaces }),
    ...(unprivilegedClone === undefined ? {} : { unprivilegedClone }),
    ...(appArmorRestricts === undefined ? {} : { appArmorRestricts }),
    ...(seccomp === undefined ? {} : { seccomp }),
  };
}

/** The namespaces of `launchLine`, and the mount that masked /proc folders forbid. */
function trialLine(uid: number): string[] {
  const inner = 'mount -t proc proc /proc && exec unshare --user --keep-caps --mount -- true';
  return [
    ...['unshare', ...(uid === 0 ? [] : ['--user', '--map-root-user']), '--mount', '--ipc', '--uts', '--pid', '--fork'],
    ...['--propagation', 'private', '--', 'sh', '-c', inner],
  ];
}

async function missing(programs: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    programs.map((program) =>
      Promise.any(SYSTEM_PATH.split(':').map((folder) => access(`${folder}/${program}`))).then(
        () => true,
        () => false,
      ),
    ),
  );
  return programs.filter((_, index) => found[index] === false);
}

async function readNumber(path: string, pattern = /^(\d+)/): Promise<number | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const digits = pattern.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The marks that Docker and Podman leave, and Kubernetes in the environment of process 1's mounts. */
async function isContainer(): Promise<boolean> {
  const marks = ['/.dockerenv', '/run/.containerenv', '/var/run/secrets/kubernetes.io'];
  const found = await Promise.all(
    marks.map((mark) =>
      access(mark).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.includes(true);
}
