import { badRequest } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { RUN_STATUSES, type RunStatus } from "@tidemark/run-state";
import { recordHeartbeats } from "../life/signs-of-life.sql.ts";
import { moveRuns, type LockedRun } from "./run-changes.sql.ts";

/** Returns a known status, or undefined. @throws bad_request */
export function requireStatus(text: string | undefined): RunStatus | undefined {
  const status = RUN_STATUSES.find((known) => known === text);
  if (text !== undefined && status === undefined) {
    throw badRequest(`status must be one of ${RUN_STATUSES.join(", ")}`, "status");
  }
  return status;
}

/** Sets the status of runs that this transaction has locked. `now` is RFC 3339. */
export async function changeStatus(
  tx: Tx,
  orgId: string,
  locked: readonly LockedRun[],
  { status, now }: { readonly status: RunStatus; readonly now: string },
): Promise<void> {
  await moveRuns(tx, orgId, locked, { kind: "patch", status });
  if (status !== "running") return;
  // They run again from now on, although their creation may be long ago.
  const begun = locked.filter(({ state }) => state.status !== "running");
  const ids = begun.map(({ id }) => id);
  await recordHeartbeats(tx, orgId, ids, now);
}
