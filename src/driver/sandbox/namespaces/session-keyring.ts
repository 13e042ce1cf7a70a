import { access, readFile } from 'node:fs/promises';
import { SYSTEM_PATH } from './launch-line.js';

/**
 * Number of keyctl(2). Node, the shell and util-linux cannot make a keyring, and what can differs from machine to
 * machine. Architectures that are not listed: `keyctl` alone can.
 */
const KEYCTL: Readonly<Partial<Record<string, number>>> = {
  x64: 250,
  ia32: 288,
  arm: 311,
  arm64: 219,
  riscv64: 219,
  loong64: 219,
  ppc64: 271,
  s390x: 280,
};
/** KEYCTL_JOIN_SESSION_KEYRING */
const JOIN = 1;

/**
 * The beginning of a command line that runs what follows it with an empty session keyring of its own; empty where no
 * program can make one.
 *
 * A session keyring is inherited by every process, user namespaces or not, and whoever has it may read the keys in it
 * (keyrings(7), "possession"): tickets of Kerberos, passwords of network shares. Container runtimes therefore give each
 * container a new one, and so does this. A kernel without keyrings (ENOSYS) and a filter that forbids them (EPERM) leave
 * nothing to read.
 */
export async function freshKeyringLine(arch: string, path: string = SYSTEM_PATH): Promise<readonly string[]> {
  const number = KEYCTL[arch];
  const perl = number === undefined ? undefined : await find('perl', path);
  if (perl !== undefined) {
    const join = `syscall(${number}, ${JOIN}, 0) >= 0 or $! == 1 or $! == 38 or die "no keyring: $!\\n"`;
    return [perl, '-e', `${join}; exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n"`, '--'];
  }
  const keyctl = await find('keyctl', path);
  return keyctl === undefined ? [] : [keyctl, 'session', '-'];
}

/** Whether the processes of this user have a session keyring that somebody else than the kernel made. */
export async function hasSessionKeyring(file = '/proc/keys'): Promise<boolean> {
  const keys = await readFile(file, 'utf8').catch(() => '');
  // `1b2c… I--Q---  4 perm 3f030000  1000  1000 keyring  _ses: 1`; those of the kernel begin with a dot, the others are per user namespace.
  return keys.split('\n').some((line) => /\skeyring\s+(?!\.|_uid\.|_uid_ses\.|_persistent\.)/.test(line));
}

async function find(program: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(':')) {
    const file = `${folder}/${program}`;
    if (
      await access(file).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  return undefined;
}
