import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  RunStop,
  StopRunRequestSchema,
  StopRunResponse,
  StopRunsRequestSchema,
  StopRunsResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply } from "../../route.ts";
import { readList, readOptionalText, withFault, type Fields } from "../fields/index.ts";
import type { Json } from "../../http/json.ts";
import { pathRunId } from "../runs/read.ts";
import { requireMessage } from "../replies.ts";
import { controlJson } from "../runs/rows.ts";

/** Most runs of one request, repeated ids counted (API specification, Limits). */
export const STOP_RUNS_MAX = 100;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** POST /api/runs/{run_id}/stop. Faults of the body travel with the request, because a missing run goes first. */
export function decodeStopRun(input: RouteInput): MessageInitShape<typeof StopRunRequestSchema> {
  const { value, fault } = withFault(() => readReason(input.body));
  return {
    runId: pathRunId(input),
    idempotencyKey: input.idempotencyKey ?? "",
    ...(value === undefined ? {} : { reason: value }),
    bodyFault: fault,
  };
}

/** POST /api/runs/stop. @throws bad_request */
export function decodeStopRuns(input: RouteInput): MessageInitShape<typeof StopRunsRequestSchema> {
  const runIds = readRunIds(input.body);
  const reason = readReason(input.body);
  return { runIds, idempotencyKey: input.idempotencyKey ?? "", ...(reason === undefined ? {} : { reason }) };
}

function readReason(body: Fields): string | undefined {
  return readOptionalText(body, "reason", { blank: "absent" });
}

// Every UUID is accepted, the nil one as well: the result says for each whether the run exists.
function readRunIds(body: Fields): string[] {
  const items = readList(body, "run_ids", { itemsMin: 1, itemsMax: STOP_RUNS_MAX });
  if (items === undefined) throw badRequest("run_ids is required", "run_ids");
  return items.map((item) => {
    if (typeof item !== "string" || !uuid.test(item)) throw badRequest("run_ids must be UUIDs", "run_ids");
    return item.toLowerCase();
  });
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
