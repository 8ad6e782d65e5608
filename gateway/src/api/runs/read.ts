import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetRunRequestSchema, GetRunResponse } from "@tidemark/proto/runs/v1/runs";
import { RUN_METRIC_KEYS_MAX } from "@tidemark/limits";
import type { RouteInput, RouteReply } from "../../route.ts";
import { described, object, withFault } from "../fields/field.ts";
import { queryInteger, queryOr } from "../fields/number.ts";
import { textOrEmpty } from "../fields/text.ts";
import { pathId } from "../parameters.ts";
import { requireMessage } from "../replies.ts";
import { summaryJson } from "./rows.ts";

/** Returns the id of the run in a path; see `pathId`. */
export function pathRunId(input: RouteInput): string {
  return pathId(input, "run_id");
}

// A key has at most 512 bytes, and its cursor four characters for three of them.
const CURSOR_BYTES_MAX = 700;

/** Query of GET /runs/{run_id}. */
export const getRunQuery = object({
  metric_prefix: described(textOrEmpty(), "Only metric keys that begin with this text."),
  metric_limit: queryOr(queryInteger({ min: 1, max: RUN_METRIC_KEYS_MAX }), RUN_METRIC_KEYS_MAX),
  metric_cursor: described(textOrEmpty({ bytesMax: CURSOR_BYTES_MAX }), "metric_next_cursor of the page before."),
});

/** GET /runs/{run_id}. Faults of the query travel with the request, because a missing run takes precedence. */
export function decodeGetRun(input: RouteInput): MessageInitShape<typeof GetRunRequestSchema> {
  const { value, fault } = withFault(() => getRunQuery.read(input.query));
  return { runId: pathRunId(input), ...value, queryFault: fault };
}

/** `{run}` with the summary, and how to continue in its metric keys. */
export function encodeGetRun({ run }: GetRunResponse): RouteReply {
  const summary = requireMessage(run);
  const cursor = requireMessage(summary.metrics).nextCursor;
  return { body: { run: { ...summaryJson(summary), metric_next_cursor: cursor === "" ? null : cursor } } };
}
