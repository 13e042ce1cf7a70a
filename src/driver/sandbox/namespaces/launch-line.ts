import type { ContainerSecurity } from '../api-server/container-runtime.js';
import { escaped } from './mount-table.js';
import type { OutsideIdentity } from './outside-identity.js';

/** Programs of the machine are found here alone: never through the caller's PATH. */
export const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** Bounds a fork bomb; a Kubernetes node usually allows about as many. */
const MAX_PROCESSES = 4096;

/** What a container runtime leaves to root by default and that means something in a user namespace. */
const DEFAULT_CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

export interface LaunchOptions {
  /** Text of `enter.sh`: as an argument, because its file need not be readable for the identity that runs it in the end. */
  readonly script: string;
  readonly identity: OutsideIdentity;
  /** Absolute host path of the container's root folder. */
  readonly root: string;
  readonly hostname: string;
  readonly security: ContainerSecurity;
  /** Whether RLIMIT_NPROC counts per user namespace (Linux 5.14); before that it counts all processes of the user. */
  readonly limitsProcesses: boolean;
  /** Of `freshKeyringLine`. */
  readonly freshKeyring: readonly string[];
}

/**
 * The command line that makes the namespaces. Two PID namespaces, one in the other: init of the outer one is a shell of
 * ours that dies with the caller, so all dies with it even if the command has cleared its own parent-death signal.
 */
export function launchLine(options: LaunchOptions): string[] {
  const { identity, security } = options;
  const uid = security.runAsUser ?? 0;
  const gid = security.runAsGroup ?? uid;
  const renamed =
    uid === 0 && gid === 0 ? [] : ['unshare', '--user', '--keep-caps', `--map-user=${uid}`, `--map-group=${gid}`, '--'];
  return [
    ...['setpriv', '--pdeathsig', 'KILL', ...(identity.privileged ? ['--clear-groups'] : []), '--'],
    ...options.freshKeyring,
    ...['unshare', ...(identity.privileged ? [] : ['--user', '--map-root-user']), '--mount', '--ipc', '--uts', '--pid'],
    ...['--fork', '--kill-child', '--propagation', 'private', '--'],
    // The shell's first child is init of the inner one; unshare itself could not report a SIGKILL (exit code 1, seen in 2.38).
    ...['unshare', '--pid', '--', '/bin/sh', '-c', '"$@"; exit $?', 'init'],
    ...['/bin/sh', '-c', options.script, 'enter.sh', 'build', options.script, options.root, escaped(options.root)],
    ...[
      options.hostname,
      String(identity.privileged ? identity.id : 0),
      identity.privileged ? '--clear-groups' : '--keep-groups',
    ],
    String(renamed.length === 0 ? 0 : 1),
    ...renamed,
    ...unprivileged(security, options.limitsProcesses),
  ];
}

export interface JoinOptions extends Pick<LaunchOptions, 'identity' | 'security' | 'limitsProcesses' | 'freshKeyring'> {
  /** Host pids of the outer and of the container's first process. */
  readonly init: number;
  readonly first: number;
}

/** The command line that joins a running container as its user. */
export function joinLine({ identity, security, limitsProcesses, freshKeyring, init, first }: JoinOptions): string[] {
  const enter = ['--user', '--mount', '--ipc', '--uts', '--pid', '--preserve-credentials'];
  const target = ['nsenter', '--target', String(first), ...enter];
  return [
    ...freshKeyring,
    ...(identity.privileged
      ? // Sheds root's groups and uid before the first program of the container's root is loaded.
        [
          'setpriv',
          '--clear-groups',
          '--regid',
          String(identity.id),
          '--',
          ...target,
          '--setuid',
          String(security.runAsUser ?? 0),
          '--',
        ]
      : // By way of the user namespace that owns the others.
        ['nsenter', '--target', String(init), '--user', '--preserve-credentials', '--', ...target, '--']),
    ...unprivileged(security, limitsProcesses),
  ];
}

/** Drops what is left of rights for good, then a shell that reads the script of `environmentScript`. */
function unprivileged(security: ContainerSecurity, limitsProcesses: boolean): string[] {
  const kept = capabilities(security);
  return [
    ...['prlimit', '--core=0', ...(limitsProcesses ? [`--nproc=${MAX_PROCESSES}:${MAX_PROCESSES}`] : []), '--'],
    ...['setpriv', '--no-new-privs', '--inh-caps=-all', '--ambient-caps=-all'],
    `--bounding-set=${['-all', ...kept.map((name) => `+${name.toLowerCase()}`)].join(',')}`,
    ...['--pdeathsig', 'KILL', '--', '/bin/sh', '-s'],
  ];
}

/** Of the default capabilities: what the pod spec leaves. One that is asked for and not among them is not given. */
function capabilities(security: ContainerSecurity): string[] {
  const plain = (names: readonly string[]): string[] => names.map((name) => name.toUpperCase().replace(/^CAP_/, ''));
  const dropped = plain(security.dropCapabilities);
  const added = plain(security.addCapabilities);
  return DEFAULT_CAPABILITIES.filter(
    (name) => added.includes(name) || added.includes('ALL') || !(dropped.includes('ALL') || dropped.includes(name)),
  );
}
