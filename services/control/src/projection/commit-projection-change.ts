import { putOutbox, type Tx } from "@tidemark/pg";
import type { ControlDeps } from "../deps.ts";

/** The subject that wakes every reader of the projection. The message is empty: readers ask for the changes. */
export const projectionChangedSubject = "tidemark.control.projection_changed.v1";

/** Adds the wake-up to the transaction of the change. Nudge the relay when the transaction has committed. */
export function announceChange(tx: Tx, orgId: string): Promise<void> {
  return putOutbox(tx, orgId, { service: "control", subject: projectionChangedSubject, payload: new Uint8Array() });
}

/** Runs one transaction of an organization that changes the projection, and wakes gateways when it has committed. */
export async function commitProjectionChange<T>(
  deps: ControlDeps,
  orgId: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const result = await deps.db.withTenant(orgId, async (tx) => {
    const done = await work(tx);
    await announceChange(tx, orgId);
    return done;
  });
  deps.wakeRelay();
  return result;
}
