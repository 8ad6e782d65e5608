import { describe, expect, test } from "@jest/globals";
import { applyRunEvent } from "./apply-run-event.ts";
import { newRunState } from "./run-state.ts";
import { rowOfState, stateOfRow, type RunStateRow } from "./state-row.ts";

const asked: RunStateRow = {
  status: "running",
  started_at: "2026-01-02T03:04:05.000001Z",
  finished_at: null,
  resume_count: 2,
  resumed_at: "2026-01-03T03:04:05.123456Z",
  stop_state: "acknowledged",
  stop_request_id: "r1",
  stop_reason: "nan loss",
  stop_completion_message: null,
  stop_actor: "user",
  stop_requested_at: "2026-01-04T03:04:05.999999Z",
  stop_acknowledged_at: "2026-01-04T03:04:06.7Z",
  stop_completed_at: null,
  stop_updated_at: "2026-01-04T03:04:06.7Z",
};

describe("a state and its row", () => {
  test("convert into each other without losing a microsecond", () => {
    expect(rowOfState(stateOfRow(asked))).toEqual(asked);
    expect(rowOfState(newRunState(new Date(0)))).toMatchObject({
      status: "running",
      started_at: "1970-01-01T00:00:00.000Z",
      stop_state: "none",
      stop_request_id: null,
    });
  });

  test("a transition adds new instants to the old ones", () => {
    const at = new Date("2026-01-05T00:00:00.001Z");
    const event = { kind: "ack", requestId: "r1", state: "completed", message: "saved" } as const;
    expect(rowOfState(applyRunEvent(stateOfRow(asked), event, at).state)).toEqual({
      ...asked,
      status: "failed",
      finished_at: "2026-01-05T00:00:00.001Z",
      stop_state: "completed",
      stop_completion_message: "saved",
      stop_completed_at: "2026-01-05T00:00:00.001Z",
      stop_updated_at: "2026-01-05T00:00:00.001Z",
    });
  });
});
