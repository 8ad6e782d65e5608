import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  AcknowledgeStopRequestSchema,
  AcknowledgeStopResponse,
  GetStopSignalRequestSchema,
  GetStopSignalResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { described, object, required, withFault } from "../fields/field.ts";
import { canonicalUuid, textOrAbsent, word } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { pathRunId } from "../runs/read.ts";
import { controlJson } from "../runs/rows.ts";

/** The states that a training process can report. */
const ACK_STATES = ["acknowledged", "completed"] as const;

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

const idSchema: Schema = { type: "string" };

/** A text that is not an id is read as the empty one, which the service answers like every id of another request. */
const readStopRequestId = (value: unknown, name: string): string => {
  if (typeof value !== "string") throw badRequest(`${name} must be a text`, name);
  return canonicalUuid(value.trim()) ?? "";
};

/** Body of POST /api/runs/{run_id}/stop-ack. */
export const acknowledgeStopBody = object({
  stop_request_id: { ...required(idSchema, readStopRequestId), absent: (name) => readStopRequestId(undefined, name) },
  message: described(textOrAbsent(), "Kept with completed."),
  state: word(ACK_STATES),
});

/** POST /api/runs/{run_id}/stop-ack. Faults of the body travel with the request, because a missing run takes precedence. */
export function decodeAcknowledgeStop(input: RouteInput): MessageInitShape<typeof AcknowledgeStopRequestSchema> {
  const { value, fault } = withFault(() => acknowledgeStopBody.read(input.body));
  return { runId: pathRunId(input), ...value, bodyFault: fault };
}

/** `{run_id, run_control}`. */
export function encodeAcknowledgeStop({ runId, runControl }: AcknowledgeStopResponse): RouteReply {
  return { body: { run_id: runId, run_control: controlJson(requireMessage(runControl)) } };
}
