import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  AcknowledgeStopRequestSchema,
  AcknowledgeStopResponse,
  GetStopSignalRequestSchema,
  GetStopSignalResponse,
  RunStop,
  StopRunRequestSchema,
  StopRunResponse,
  StopRunsRequestSchema,
  StopRunsResponse,
} from "@tidemark/proto/control/v1/control";
import { STOP_RUNS_MAX } from "@tidemark/limits";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { described, join, listOf, object, required, withFault } from "../fields/field.ts";
import { canonicalUuid, textOrAbsent, UUID_SHAPE, word } from "../fields/text.ts";
import { requireMessage } from "../replies.ts";
import { pathRunId } from "../runs/read.ts";
import { controlJson } from "../runs/rows.ts";

const reason = object({ reason: described(textOrAbsent(), "Blank means none.") });

/** Body of POST /api/runs/{run_id}/stop. */
export const stopRunBody = reason;

/** POST /api/runs/{run_id}/stop. Faults of the body travel with the request, because a missing run takes precedence. */
export function decodeStopRun(input: RouteInput): MessageInitShape<typeof StopRunRequestSchema> {
  const { value, fault } = withFault(() => stopRunBody.read(input.body));
  return { runId: pathRunId(input), idempotencyKey: input.idempotencyKey ?? "", ...value, bodyFault: fault };
}

/** Every UUID is accepted, including the nil one: the result says for each whether the run exists. */
const anyUuid = (item: unknown, name: string): string => {
  if (typeof item !== "string" || !UUID_SHAPE.test(item)) throw badRequest(`${name} must be UUIDs`, name);
  return item.toLowerCase();
};

/** Body of POST /api/runs/stop. */
export const stopRunsBody = join(
  object({
    run_ids: listOf(
      { type: "string", format: "uuid", pattern: UUID_SHAPE.source },
      { itemsMin: 1, itemsMax: STOP_RUNS_MAX },
      anyUuid,
    ),
  }),
  reason,
);

/** POST /api/runs/stop. @throws bad_request */
export function decodeStopRuns(input: RouteInput): MessageInitShape<typeof StopRunsRequestSchema> {
  return { ...stopRunsBody.read(input.body), idempotencyKey: input.idempotencyKey ?? "" };
}

/** `{ok, run_id, already_requested, already_terminal, run_control}`. */
export function encodeStopRun({ stop, replayed }: StopRunResponse): RouteReply {
  return { body: stopJson(requireMessage(stop)), replayed };
}

/** `{results, limit}`. */
export function encodeStopRuns({ stops, replayed }: StopRunsResponse): RouteReply {
  return { body: { results: stops.map(stopJson), limit: STOP_RUNS_MAX }, replayed };
}

function stopJson({ runId, alreadyRequested, alreadyTerminal, runControl }: RunStop): Json {
  if (runControl === undefined) return { ok: false, run_id: runId, error: "not_found_or_unauthorized" };
  return {
    ok: true,
    run_id: runId,
    already_requested: alreadyRequested,
    already_terminal: alreadyTerminal,
    run_control: controlJson(runControl),
  };
}

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
