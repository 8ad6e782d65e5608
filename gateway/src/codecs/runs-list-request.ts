import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type { ListRunsRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { Query, RouteInput } from "../route.ts";
import { readLimit, readOffset, readOptionalText } from "./fields.ts";

/** The orders of the run list; the first one is the default. */
export const RUN_SORTS = ["created", "name", "status", "duration", "metric-latest", "metric-best"] as const;

/** Page sizes of the run list. */
export const RUNS_LIMIT = { default: 100, max: 1000 } as const;

/** The metric of the metric sorts when none is named. */
export const METRIC_KEY_DEFAULT = "eval/return_mean";

/** GET /runs. Filters are compared, never validated. @throws bad_request */
export function decodeListRuns({ query }: RouteInput): MessageInitShape<typeof ListRunsRequestSchema> {
  if (query["q"] !== undefined && query["q"].trim() !== "") {
    throw badRequest("run search (q) is not available in this version", "q");
  }
  const sortBy = readOptionalText(query, "sort_by", { blank: "absent" }) ?? RUN_SORTS[0];
  if (!RUN_SORTS.some((known) => known === sortBy)) {
    throw badRequest(`sort_by must be one of ${RUN_SORTS.join(", ")}`, "sort_by");
  }
  return {
    filter: {
      ...filter(query, "project", "project"),
      ...filter(query, "status", "status"),
      ...filter(query, "display_status", "displayStatus"),
    },
    order: { sortBy, metricKey: readOptionalText(query, "metric_key", { blank: "absent" }) ?? METRIC_KEY_DEFAULT },
    limit: readLimit(query, RUNS_LIMIT),
    offset: BigInt(readOffset(query)),
  };
}

function filter<F extends string>(query: Query, name: string, field: F): Partial<Record<F, string>> {
  const value = query[name];
  if (value === undefined || value.trim() === "" || value === "all") return {};
  return { [field]: value } as Record<F, string>;
}
