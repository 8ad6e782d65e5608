import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetRunRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { Query, RouteInput } from "../route.ts";
import { canonicalUuid, readOptionalText, readQueryInteger, withFault } from "./fields.ts";

/** Most metric keys of a run at a time, also when no number is given. */
export const METRIC_LIMIT_MAX = 1000;

// A key has at most 512 bytes, and its cursor four characters for three of them.
const CURSOR_BYTES_MAX = 700;

/** The id in a path as the services know it; what is no UUID stays as it is and is found nowhere. */
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
