# Shared by the scripts beside it. Sourced, never run.
# State of the node: $CNAB_CLUSTER_DIR (default /tmp/cnab-cluster); everything of it is gone after `down`.
set -euo pipefail
cluster=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
state=${CNAB_CLUSTER_DIR:-/tmp/cnab-cluster}
node_name=node1 node_ip=10.99.0.1
cgroup_root=cnab-cluster-$(cksum <<< "$state" | cut -d' ' -f1)
export CNAB_CLUSTER_DIR=$state

say() { echo "cluster: $*" >&2; }
die() { say "$*"; exit 1; }

# wait_until SECONDS WHAT LOG COMMAND...: polls, and says every 30 s that it still does; at the deadline it fails with the last lines of LOG.
wait_until() {
  local seconds=$1 what=$2 log=$3 began now told
  shift 3
  began=$(date +%s) told=0
  until "$@" > /dev/null 2>&1; do
    now=$(($(date +%s) - began))
    if [ "$now" -ge "$seconds" ]; then
      say "$what: not there after $seconds s; last lines of $log:"
      tail -n 20 "$log" >&2 2> /dev/null || true
      return 1
    fi
    if [ $((now / 30)) -gt "$told" ]; then
      told=$((now / 30))
      say "waiting for $what, $now s so far"
    fi
    sleep 0.1
  done
}

# True while the node's PID 1 lives.
is_up() { [ -s "$state/inner.pid" ] && kill -0 "$(cat "$state/inner.pid")" 2> /dev/null; }

# The node's own cgroup in every hierarchy that is mounted (cgroup v1), or in the one of v2.
cgroup_hierarchies() {
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then echo /sys/fs/cgroup; else find /sys/fs/cgroup -mindepth 1 -maxdepth 1 -type d; fi
}
