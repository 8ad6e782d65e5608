import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  GetOverviewRequestSchema,
  ListRunsRequestSchema,
  RunFilterSchema,
  RunOrderSchema,
  SummarizeRunsRequestSchema,
} from "@tidemark/proto/runs/v1/runs";
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
  return {
    filter: readRunFilter(query),
    order: readRunOrder(query),
    limit: readLimit(query, RUNS_LIMIT),
    offset: BigInt(readOffset(query)),
  };
}

/** GET /api/runs/summary. @throws bad_request */
export function decodeSummarizeRuns({ query }: RouteInput): MessageInitShape<typeof SummarizeRunsRequestSchema> {
  return {
    filter: readRunFilter(query),
    order: readRunOrder(query),
    limit: readLimit(query, RUNS_LIMIT),
    offset: BigInt(readOffset(query)),
    cursor: query["cursor"]?.trim() ?? "",
    selection: query["projection"] === "selection",
  };
}

/** GET /api/overview. @throws bad_request */
export function decodeOverview({ query }: RouteInput): MessageInitShape<typeof GetOverviewRequestSchema> {
  return { filter: readRunFilter(query), metricKey: readMetricKey(query) };
}

/** The filters of run lists. A project's id may be written in any letter case. */
function readRunFilter(query: Query): MessageInitShape<typeof RunFilterSchema> {
  const projectId = filter(query, "project_id", "projectId").projectId?.trim().toLowerCase();
  return {
    ...filter(query, "project", "project"),
    ...(projectId === undefined ? {} : { projectId }),
    ...filter(query, "status", "status"),
    ...filter(query, "display_status", "displayStatus"),
    q: query["q"] ?? "",
  };
}

/** The order of run lists. @throws bad_request */
function readRunOrder(query: Query): MessageInitShape<typeof RunOrderSchema> {
  const sortBy = readOptionalText(query, "sort_by", { blank: "absent" }) ?? RUN_SORTS[0];
  if (!RUN_SORTS.some((known) => known === sortBy)) {
    throw badRequest(`sort_by must be one of ${RUN_SORTS.join(", ")}`, "sort_by");
  }
  return { sortBy, metricKey: readMetricKey(query) };
}

function readMetricKey(query: Query): string {
  return readOptionalText(query, "metric_key", { blank: "absent" }) ?? METRIC_KEY_DEFAULT;
}

function filter<F extends string>(query: Query, name: string, field: F): Partial<Record<F, string>> {
  const value = query[name];
  if (value === undefined || value.trim() === "" || value === "all") return {};
  return { [field]: value } as Record<F, string>;
}
