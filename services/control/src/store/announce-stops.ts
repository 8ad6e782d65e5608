import { putOutbox, type Tx } from "@tidemark/pg";

/** Somebody asked runs to stop. */
export const stopRequestedSubject = "tidemark.control.stop_requested.v1";

/** A training process acknowledged a stop, or completed it. */
export const stopAnsweredSubject = "tidemark.control.stop_answered.v1";

/** Adds a message about runs to the transaction of their change. */
export function announceStops(
  tx: Tx,
  orgId: string,
  subject: typeof stopRequestedSubject | typeof stopAnsweredSubject,
  payload: Uint8Array,
): Promise<void> {
  return putOutbox(tx, orgId, { service: "control", subject, payload });
}
