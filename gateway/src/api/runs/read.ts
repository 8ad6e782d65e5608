import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetRunRequestSchema, GetRunResponse } from "@tidemark/proto/runs/v1/runs";
import type { Query, RouteInput, RouteReply, Schema } from "../../route.ts";
import { canonicalUuid, readOptionalText, readQueryInteger, withFault } from "../fields/index.ts";
import { requireMessage } from "../replies.ts";
import { summaryJson } from "./rows.ts";

/** Most metric keys of a page; also the default. */
const METRIC_LIMIT_MAX = 1000;

// A key has at most 512 bytes, and its cursor four characters for three of them.
const CURSOR_BYTES_MAX = 700;

/** Query of GET /runs/{run_id}. */
export const getRunQuery: Readonly<Record<string, Schema>> = {
  metric_prefix: { type: "string", description: "Only metric keys that begin with this text." },
  metric_limit: { type: "integer", minimum: 1, maximum: METRIC_LIMIT_MAX, default: METRIC_LIMIT_MAX },
  metric_cursor: { type: "string", description: "metric_next_cursor of the page before." },
};

/** Returns the id in a path in lower case; a text that is not a UUID stays unchanged and finds nothing. */
export function pathRunId({ params }: RouteInput): string {
  const text = params["run_id"] ?? "";
  return canonicalUuid(text) ?? text;
}

/** GET /runs/{run_id}. Faults of the query travel with the request, because a missing run goes first. */
export function decodeGetRun(input: RouteInput): MessageInitShape<typeof GetRunRequestSchema> {
  const runId = pathRunId(input);
  const { value, fault } = withFault(() => readPage(input.query));
  return fault === undefined ? { runId, ...value } : { runId, queryFault: fault };
}

function readPage(query: Query): { metricPrefix: string; metricLimit: number; metricCursor: string } {
  return {
    metricPrefix: readOptionalText(query, "metric_prefix", { blank: "absent" }) ?? "",
    metricLimit: readQueryInteger(query, "metric_limit", { min: 1, max: METRIC_LIMIT_MAX }) ?? METRIC_LIMIT_MAX,
    metricCursor: readOptionalText(query, "metric_cursor", { blank: "absent", bytesMax: CURSOR_BYTES_MAX }) ?? "",
  };
}

/** `{run}` with the summary, and how to go on in its metric keys. */
export function encodeGetRun({ run }: GetRunResponse): RouteReply {
  const summary = requireMessage(run);
  const cursor = requireMessage(summary.metrics).nextCursor;
  return { body: { run: { ...summaryJson(summary), metric_next_cursor: cursor === "" ? null : cursor } } };
}
