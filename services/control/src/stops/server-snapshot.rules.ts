/**
 * The view of a transaction of the database server, as its text `xmin:xmax:xip,…` (pg_snapshot):
 * every transaction below xmin had ended, none from xmax on had begun.
 */
export type ServerSnapshot = string;

/** Returns the oldest transaction that the snapshot may not have seen. */
export function floorOf(snapshot: ServerSnapshot): bigint {
  return BigInt(snapshot.slice(0, snapshot.indexOf(":")));
}

/** Returns whether the server was restored to an earlier state between two snapshots: its counter went back. */
export function wasRestored(before: ServerSnapshot, now: ServerSnapshot): boolean {
  return ceilingOf(now) < ceilingOf(before);
}

function ceilingOf(snapshot: ServerSnapshot): bigint {
  const [, xmax = "0"] = snapshot.split(":");
  return BigInt(xmax);
}
