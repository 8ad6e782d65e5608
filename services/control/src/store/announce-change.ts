import { putOutbox, type Tx } from "@tidemark/pg";

/** Wakes every reader of the projection; what changed they ask for themselves. */
export const projectionChangedSubject = "tidemark.control.projection_changed.v1";

/** Adds the wake-up to the transaction of the change. */
export function announceChange(tx: Tx, orgId: string): Promise<void> {
  return putOutbox(tx, orgId, { service: "control", subject: projectionChangedSubject, payload: new Uint8Array() });
}
