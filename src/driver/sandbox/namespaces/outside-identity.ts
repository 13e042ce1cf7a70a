import { createHash } from 'node:crypto';

/** Who the container's processes are for the machine: one uid and gid, the same number. */
export interface OutsideIdentity {
  readonly id: number;
  /** Root makes the namespaces, and the container's files are given to `id`. Otherwise the caller is `id` already. */
  readonly privileged: boolean;
}

/** Between systemd's ranges for containers and foreign images (systemd.io/UIDS-GIDS): nobody's. */
const BASE = 2_000_000_000;
const COUNT = 65_536;

/**
 * The identity outside of uid 0 inside. Never 0: for root it is an id that owns nothing on the machine, another one
 * for each pod; anybody else stays who they are. `uidMap` is /proc/self/uid_map: root of a rootless container has few ids,
 * and there the highest ones are taken, below 65534 which is `nobody` for everybody.
 * Undefined when root has no id but 0.
 */
export function outsideIdentity(uid: number, uidMap: string, podUid: string): OutsideIdentity | undefined {
  if (uid !== 0) return { id: uid, privileged: false };
  const ranges = uidMap
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([inside, , count]) =>
      inside === undefined || count === undefined ? [] : [{ inside, end: inside + count }],
    );
  const drawn = createHash('sha256').update(podUid).digest().readUInt16BE(0);
  const wanted = BASE + (drawn % COUNT);
  if (ranges.some(({ inside, end }) => inside <= BASE && BASE + COUNT <= end)) return { id: wanted, privileged: true };
  const highest = Math.max(0, ...ranges.map(({ inside, end }) => (inside < 65_534 ? Math.min(end, 65_534) - 1 : 0)));
  return highest === 0 ? undefined : { id: highest, privileged: true };
}
