import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RunControlSchema } from "@tidemark/proto/runs/v1/runs";
import { displayStatus, isStopRequested, rowOfState, type RunState } from "@tidemark/run-state";

/** Where a run's stop request stands, with its free texts. */
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
