import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  AcknowledgeStopRequestSchema,
  AcknowledgeStopResponse,
  GetStopSignalRequestSchema,
  GetStopSignalResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply } from "../../route.ts";
import { canonicalUuid, present, readOptionalText, readRequiredEnum, withFault, type Fields } from "../fields/index.ts";
import { pathRunId } from "../runs/read.ts";
import { requireMessage } from "../replies.ts";
import { controlJson } from "../runs/rows.ts";

/** The states that a training process can report. */
export const ACK_STATES = ["acknowledged", "completed"] as const;

/** GET /api/runs/{run_id}/stop-signal. */
export function decodeGetStopSignal(input: RouteInput): MessageInitShape<typeof GetStopSignalRequestSchema> {
  return { runId: pathRunId(input) };
}

/** The signal, which no cache may keep. */
export function encodeGetStopSignal(response: GetStopSignalResponse): RouteReply {
  const { pending, runStatus } = response;
  return {
    headers: { "cache-control": "private, no-store", pragma: "no-cache" },
    body: {
      run_id: response.runId,
      run_status: runStatus,
      terminal: runStatus !== "running",
      stop_requested: pending !== undefined,
      poll_after_seconds: response.pollAfterSeconds,
      stop_request:
        pending === undefined
          ? null
          : {
              stop_request_id: pending.stopRequestId,
              requested_at: pending.requestedAt,
              acknowledged_at: pending.acknowledgedAt ?? null,
            },
    },
  };
}

/** POST /api/runs/{run_id}/stop-ack. Faults of the body travel with the request, because a missing run goes first. */
export function decodeAcknowledgeStop(input: RouteInput): MessageInitShape<typeof AcknowledgeStopRequestSchema> {
  const { value, fault } = withFault(() => readAcknowledgement(input.body));
  return { runId: pathRunId(input), ...value, bodyFault: fault };
}

function readAcknowledgement(body: Fields) {
  const id = present(body, "stop_request_id");
  if (typeof id !== "string") throw badRequest("stop_request_id must be a text", "stop_request_id");
  const message = readOptionalText(body, "message", { blank: "absent" });
  return {
    // The service answers a text that is not an id like every id of another request.
    stopRequestId: canonicalUuid(id.trim()) ?? "",
    state: readRequiredEnum(body, "state", ACK_STATES),
    ...(message === undefined ? {} : { message }),
  };
}

/** `{run_id, run_control}`. */
export function encodeAcknowledgeStop({ runId, runControl }: AcknowledgeStopResponse): RouteReply {
  return { body: { run_id: runId, run_control: controlJson(requireMessage(runControl)) } };
}
