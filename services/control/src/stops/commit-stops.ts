import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { putOutbox, type Tx } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { StopEventSchema } from "@tidemark/proto/control/v1/control";
import type { RunControlSchema } from "@tidemark/proto/runs/v1/runs";
import { displayStatus, isStopRequested, rowOfState, type RunState } from "@tidemark/run-state";
import type { ControlDeps } from "../deps.ts";
import { setRunStates } from "./run-states.sql.ts";

/** A caller asked runs to stop. */
export const stopRequestedSubject = "tidemark.control.stop_requested.v1";

/** A training process acknowledged a stop, or completed it. */
export const stopAnsweredSubject = "tidemark.control.stop_answered.v1";

/** Writes the new states of runs that the transaction has locked, and the one message about all of them. */
export async function writeStops(
  tx: Tx,
  orgId: string,
  subject: typeof stopRequestedSubject | typeof stopAnsweredSubject,
  changed: readonly { readonly id: string; readonly state: RunState }[],
): Promise<void> {
  if (changed.length === 0) return;
  await setRunStates(tx, orgId, changed);
  const runs = changed.map(({ id, state }) => ({ runId: id, stopRequestId: state.stop.requestId ?? "" }));
  const payload = toBinary(StopEventSchema, create(StopEventSchema, { orgId, runs }));
  await putOutbox(tx, orgId, { service: "control", subject, payload });
}

/** A run that a transaction changed. */
export type ChangedRun = { readonly id: string; readonly projectId: string; readonly statusChanged: boolean };

/**
 * Runs a transaction that changes runs, which it adds to `changed`. When it has committed, its messages are sent, and this process has the change in
 * memory before any client learns of it.
 */
export async function commitRunChange<T>(
  deps: ControlDeps,
  orgId: string,
  work: (changed: ChangedRun[]) => Promise<T>,
): Promise<T> {
  const changed: ChangedRun[] = [];
  const result = await work(changed);
  deps.wakeRelay();
  await deps.runs.catchUp();
  for (const { id: runId, projectId, statusChanged } of changed) {
    deps.noteChange({ orgId, projectId, runId, kind: ChangeKind.STOP });
    if (statusChanged) deps.noteChange({ orgId, projectId, runId, kind: ChangeKind.RUN });
  }
  return result;
}

/** Returns the state of a run's stop request, with its free texts. */
export function encodeRunControl(state: RunState): MessageInitShape<typeof RunControlSchema> {
  const row = rowOfState(state);
  return {
    stopState: row.stop_state,
    displayStatus: displayStatus(state.status, state.stop.state),
    stopRequested: isStopRequested(state.stop.state),
    stopRequestId: row.stop_request_id ?? undefined,
    actor: row.stop_actor ?? undefined,
    stopRequestedAt: row.stop_requested_at ?? undefined,
    stopAcknowledgedAt: row.stop_acknowledged_at ?? undefined,
    stopCompletedAt: row.stop_completed_at ?? undefined,
    updatedAt: row.stop_updated_at ?? undefined,
    details: {
      reason: row.stop_reason ?? undefined,
      completionMessage: row.stop_completion_message ?? undefined,
    },
  };
}
