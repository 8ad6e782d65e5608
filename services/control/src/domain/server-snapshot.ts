/**
 * What a transaction of the database server could see, as its text `xmin:xmax:xip,…` (pg_snapshot):
 * everything below xmin had ended, nothing from xmax on had begun.
 */
export type ServerSnapshot = string;

/** The oldest transaction that the snapshot may not have seen. */
export function floorOf(snapshot: ServerSnapshot): bigint {
  return BigInt(snapshot.slice(0, snapshot.indexOf(":")));
}

/** Tells whether the server has lost a past that it had, as after a restore: its counter went back. */
export function hasLostPast(before: ServerSnapshot, now: ServerSnapshot): boolean {
  return ceilingOf(now) < ceilingOf(before);
}

function ceilingOf(snapshot: ServerSnapshot): bigint {
  const [, xmax = "0"] = snapshot.split(":");
  return BigInt(xmax);
}
