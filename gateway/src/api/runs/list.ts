import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  GetOverviewRequestSchema,
  GetOverviewResponse,
  ListRunsRequestSchema,
  ListRunsResponse,
  RunFilterSchema,
  RunOrderSchema,
  SummarizeRunsRequestSchema,
  SummarizeRunsResponse,
} from "@tidemark/proto/runs/v1/runs";
import type { Query, RouteInput, RouteReply, Schema } from "../../route.ts";
import { readLimit, readOffset, readOptionalText } from "../fields/index.ts";
import { countSchema, numberOrNullSchema, objectSchema, textOrNullSchema } from "../schemas.ts";
import { runSummarySchema, summaryJson } from "./rows.ts";

/** The orders of the run list; the first one is the default. */
const RUN_SORTS = ["created", "name", "status", "duration", "metric-latest", "metric-best"] as const;

/** Page sizes of the run list. */
const RUNS_LIMIT = { default: 100, max: 1000 } as const;

/** The default metric of the metric sorts. */
const METRIC_KEY_DEFAULT = "eval/return_mean";

const runFilters: Readonly<Record<string, Schema>> = {
  project: { type: "string", description: "Name of the project; `all` for every one." },
  project_id: { type: "string", format: "uuid", description: "Id of the project; `all` for every one." },
  status: { type: "string", description: "running, finished or failed; `all` for every one." },
  display_status: {
    type: "string",
    description: "running, stopping, stopped, finished or failed; `all` for every one.",
  },
  q: {
    type: "string",
    description:
      'Run search: words (all must occur), "phrases", name: project: notes: config: metadata: tag: status: id:, AND, OR, NOT, ' +
      "parentheses, - before a field or a group, and re:/.../ with RE2 syntax. At most 512 bytes, 32 terms, 64 terms and operators, " +
      "8 levels, 4 expressions of 128 bytes. Incomplete text is searched as it is; invalid text is 400 run_search_invalid with the " +
      "column, expressions over more than 128 MiB of text are 400 run_search_too_broad.",
  },
};

/** Reads the filters of run lists. A project's id may be in any letter case. */
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

function filter<F extends string>(query: Query, name: string, field: F): Partial<Record<F, string>> {
  const value = query[name];
  if (value === undefined || value.trim() === "" || value === "all") return {};
  return { [field]: value } as Record<F, string>;
}

const runOrder: Readonly<Record<string, Schema>> = {
  sort_by: { type: "string", enum: RUN_SORTS, default: RUN_SORTS[0] },
  metric_key: {
    type: "string",
    default: METRIC_KEY_DEFAULT,
    description:
      "Metric of the metric sorts. metric-best takes the minimum where less is better (loss, error, ...). Runs without it come last.",
  },
};

/** Reads the order of run lists. @throws bad_request */
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

const runPage: Readonly<Record<string, Schema>> = {
  limit: { type: "integer", minimum: 1, maximum: RUNS_LIMIT.max, default: RUNS_LIMIT.default },
  offset: { type: "integer", minimum: 0, default: 0 },
};

/** Query of GET /runs. */
export const listRunsQuery: Readonly<Record<string, Schema>> = { ...runFilters, ...runOrder, ...runPage };

/** GET /runs. Filters are compared, not validated: unknown values find nothing. @throws bad_request */
export function decodeListRuns({ query }: RouteInput): MessageInitShape<typeof ListRunsRequestSchema> {
  return {
    filter: readRunFilter(query),
    order: readRunOrder(query),
    limit: readLimit(query, RUNS_LIMIT),
    offset: BigInt(readOffset(query)),
  };
}

/** `{runs}` with summaries. */
export function encodeListRuns({ runs }: ListRunsResponse): RouteReply {
  return { body: { runs: runs.map(summaryJson) } };
}

/** Query of GET /api/runs/summary. */
export const summarizeRunsQuery: Readonly<Record<string, Schema>> = {
  ...listRunsQuery,
  cursor: { type: "string", description: "next_cursor of the page before, or `offset:<n>`; goes before offset." },
  projection: { type: "string", description: "selection: rows for choosing runs, without metrics." },
};

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

/** Answer of GET /api/runs/summary. */
export const summarizeRunsSchema: Schema = objectSchema(
  {
    projection: { type: "string", const: "selection" },
    runs: { type: "array", items: runSummarySchema },
    metric_keys: { type: "array", items: { type: "string" }, description: "Keys of these runs, at most 250." },
    total: { ...countSchema, description: "How many runs the filter lets through." },
    next_cursor: { ...textOrNullSchema, description: "Holds its place while runs are added; null on the last page." },
    page_info: objectSchema({ pagination: { type: "string", const: "cursor" }, has_next_page: { type: "boolean" } }),
  },
  ["projection"],
);

/** `{runs, metric_keys, total, next_cursor, page_info}`; rows for choosing runs say so and have no keys. */
export function encodeSummarizeRuns(
  { runs, metricKeys, total, nextCursor }: SummarizeRunsResponse,
  { query }: RouteInput,
): RouteReply {
  const selection = query["projection"] === "selection";
  return {
    body: {
      ...(selection ? { projection: "selection" } : {}),
      runs: runs.map(summaryJson),
      metric_keys: metricKeys,
      total: Number(total),
      next_cursor: nextCursor === "" ? null : nextCursor,
      page_info: { pagination: "cursor", has_next_page: nextCursor !== "" },
    },
  };
}

/** Query of GET /api/overview. */
export const overviewQuery: Readonly<Record<string, Schema>> = {
  ...runFilters,
  metric_key: { type: "string", default: METRIC_KEY_DEFAULT, description: "Metric of best_eval_return." },
};

/** GET /api/overview. @throws bad_request */
export function decodeOverview({ query }: RouteInput): MessageInitShape<typeof GetOverviewRequestSchema> {
  return { filter: readRunFilter(query), metricKey: readMetricKey(query) };
}

/** Answer of GET /api/overview. */
export const overviewSchema: Schema = objectSchema({
  overview: objectSchema({
    total_runs: countSchema,
    active_runs: { ...countSchema, description: "Stored status running, stopping ones included." },
    failed_runs: { ...countSchema, description: "Stored status failed, stopped ones included." },
    stopping_runs: countSchema,
    stopped_runs: countSchema,
    best_eval_return: { ...numberOrNullSchema, description: "Best value of metric_key; null when no run has it." },
    metric_points: { ...countSchema, description: "Metric values of these runs." },
  }),
});

/** `{overview}`. */
export function encodeOverview(overview: GetOverviewResponse): RouteReply {
  return {
    body: {
      overview: {
        total_runs: Number(overview.totalRuns),
        active_runs: Number(overview.activeRuns),
        failed_runs: Number(overview.failedRuns),
        stopping_runs: Number(overview.stoppingRuns),
        stopped_runs: Number(overview.stoppedRuns),
        best_eval_return: overview.bestValue ?? null,
        metric_points: Number(overview.metricPoints),
      },
    },
  };
}
