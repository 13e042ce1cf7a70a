#!/bin/sh
# From a process in fresh namespaces to a contained one: builds the container's root, locks it, gives up every right,
# and starts the command. Read from top to bottom; each stage replaces the one before it by exec, so that the command
# ends up as PID 1. `launch-line.ts` gives the arguments and the namespaces, `root-plan.ts` the tables of mounts.
#
# Descriptors: 0 the script of the last stage (environment and command), 1 and 3 the container's standard output and
# error, 2 the status: complaints of these stages, then the line "started".
set -eu
stage=$1
shift
case $stage in

# As root of the machine, or as root of a user namespace of one's own. Mount, PID, IPC and UTS namespaces are new, the
# root is still the host's. Nothing that a bundle brought is executed or looked at here, nor mounted where a program
# started here would find it (/etc/ld.so.preload, say): what the pod mounts is only parked below /.sandbox.
build)
  text=$1 root=$2 escaped=$3 hostname=$4 outside=$5 groups=$6
  shift 6
  echo 500 2>/dev/null >/proc/self/oom_score_adj || :
  hostname "$hostname" 2>/dev/null || :
  mount --all --fstab "$root/.sandbox/outer"
  # A read-only bind does not reach the mounts below it; those get it one by one, with the flags that they must keep.
  # $escaped is $root as the kernel writes it: blanks and the like in octal.
  grep -F -- " $escaped/" /proc/self/mountinfo | while read -r _ _ _ _ point flags _; do
    case $point,$flags, in
    *,ro,*) ;;
    "$escaped"/usr/* | "$escaped"/nix/* | "$escaped"/gnu/* | "$escaped"/etc/*)
      keep=nosuid,nodev
      case ,$flags, in *,noexec,*) keep=$keep,noexec ;; esac
      mount -o "remount,bind,ro,$keep" "$(printf %b "$(printf %s "$point" | sed 's/\\/\\0/g')")"
      ;;
    esac
  done
  cd "$root"
  pivot_root . .sandbox/old
  cd /
  umount --lazy /.sandbox/old
  # The next stage has a user namespace and a mount namespace below the ones that own these mounts: there they are
  # locked together, none can be unmounted or made writable (mount_namespaces(7)). Only its parent may write its maps,
  # and it takes them once; before it exists the writes fail and change nothing.
  (
    tries=0
    until echo "0 $outside 1" >/proc/1/uid_map; do
      tries=$((tries + 1))
      [ $tries -lt 100000 ] || exit 1
    done
    echo "0 $outside 1" >/proc/1/gid_map
  ) 2>/dev/null &
  exec unshare --user --keep-caps --mount --propagation private -- /bin/sh -c "$text" enter.sh wait "$text" "$groups" "$@"
  ;;

# In the inner user namespace, without an identity there: uid 0 in it is the unprivileged uid outside.
wait)
  text=$1 groups=$2
  shift 2
  tries=0
  until read -r _ </proc/self/gid_map; do
    tries=$((tries + 1))
    if [ $tries -gt 1000000 ]; then
      echo "the user namespace got no identity map" >&2
      exit 1
    fi
  done
  exec setpriv --reuid 0 --regid 0 "$groups" -- /bin/sh -c "$text" enter.sh settle "$@"
  ;;

# Unprivileged outside, root inside. Now the pod's mounts go to their places; from here on whatever is found at a
# well-known path may be the bundle's, and gains it nothing: no host file is within reach any more.
settle)
  limit=$1
  shift
  # User namespaces inside would give back the rights that the next line's programs drop.
  echo "$limit" >/proc/sys/user/max_user_namespaces
  mount --all --fstab /.sandbox/inner
  exec "$@"
  ;;
esac
