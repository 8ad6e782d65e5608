import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  RunStop,
  StopRunRequestSchema,
  StopRunResponse,
  StopRunsRequestSchema,
  StopRunsResponse,
} from "@tidemark/proto/control/v1/control";
import { STOP_RUNS_MAX } from "@tidemark/limits";
import type { Json } from "../../http/json.ts";
import type { RouteInput, RouteReply } from "../../route.ts";
import { described, join, listOf, object, withFault } from "../fields/field.ts";
import { UUID_SHAPE, textOrAbsent } from "../fields/text.ts";
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
