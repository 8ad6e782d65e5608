import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import type {
  GetOverviewRequestSchema,
  GetOverviewResponse,
  ListRunsRequestSchema,
  ListRunsResponse,
  RunFilterSchema,
  SummarizeRunsRequestSchema,
  SummarizeRunsResponse,
} from "@tidemark/proto/runs/v1/runs";
import { LIST_METRIC_KEYS_MAX, RUN_SORTS, RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { Query, RouteInput, RouteReply, Schema } from "../../route.ts";
import { deletedFlag } from "../deletion/deletion.ts";
import { raw, writeListInTurns } from "../../http/json.ts";
import { described, join, object, type Field } from "../fields/field.ts";
import { limit, offset } from "../fields/number.ts";
import { querySearch, queryText, textOrEmpty, WITHOUT_NUL } from "../fields/text.ts";
import { countSchema, numberOrNullSchema, objectSchema, textOrNullSchema } from "../replies.ts";
import { summaryJson, tableRowSchema } from "./rows.ts";

/** The default metric of the metric sorts. */
const METRIC_KEY_DEFAULT = "eval/return_mean";

/** A filter is compared, not validated: unknown values find nothing. `undefined` for `all`. */
function filterBy(description: string): Field<string | undefined> {
  const check = (value: unknown): string | undefined => {
    const sent = String(value);
    return sent.trim() === "" || sent === "all" ? undefined : sent;
  };
  return {
    schema: { type: "string", pattern: WITHOUT_NUL, description: `${description}; \`all\` for every one.` },
    required: false,
    check,
    absent: () => undefined,
  };
}

const staleFilter: Field<boolean | undefined> = {
  schema: {
    type: "string",
    enum: ["true", "false", "all"],
    description: "true: running runs without a sign of life; false: all others.",
  },
  required: false,
  check: (value, name) => {
    const sent = String(value).trim();
    if (sent === "" || sent === "all") return undefined;
    if (sent === "true" || sent === "false") return sent === "true";
    throw badRequest(`${name} must be true, false or all`, name);
  },
  absent: () => undefined,
};

/** Which runs a list shows. */
export const runFilter = object({
  project: filterBy("Name of the project"),
  project_id: filterBy("Id of the project, in any letter case"),
  status: filterBy("running, finished or failed"),
  display_status: filterBy("running, stopping, stopped, finished or failed"),
  stale: staleFilter,
  q: querySearch(
    'Run search: words (all must occur), "phrases", name: project: notes: config: metadata: tag: status: id:, AND, OR, NOT, ' +
      "parentheses, - before a field, a filter or a group, and re:/.../ with RE2 syntax. Filters are words like config.lr<0.1, " +
      'config.optimizer.name="adam", metrics.loss.best<=0.2 (also latest, min, max, mean, count) and attributes.path!=1 with <, <=, >, >=, =, !=; ' +
      "what is missing passes none, and a text never equals a number. At most 512 bytes, 32 terms, 64 terms and operators, " +
      "8 levels, 4 expressions of 128 bytes. Incomplete text is searched as it is; invalid text is 400 run_search_invalid with the " +
      "column, expressions over more than 128 MiB of text are 400 run_search_too_broad.",
  ),
});

/** Reads which runs a list shows. @throws bad_request */
export function readFilter(query: Query): MessageInitShape<typeof RunFilterSchema> {
  const { projectId, ...rest } = runFilter.read(query);
  return { ...rest, projectId: projectId?.trim().toLowerCase() };
}

const anyText = textOrEmpty();

const metricKey: Field<string> = {
  ...anyText,
  schema: { ...anyText.schema, default: METRIC_KEY_DEFAULT },
  check: (value, name) => anyText.check(value, name) || METRIC_KEY_DEFAULT,
  absent: () => METRIC_KEY_DEFAULT,
};

const sortBy: Field<string> = {
  schema: { type: "string", enum: RUN_SORTS, default: RUN_SORTS[0] },
  required: false,
  check: (value, name) => {
    const sort = anyText.check(value, name) || RUN_SORTS[0];
    if (RUN_SORTS.some((known) => known === sort)) return sort;
    throw badRequest(`${name} must be one of ${RUN_SORTS.join(", ")}`, name);
  },
  absent: () => RUN_SORTS[0],
};

const metricKeyOfSort = described(
  metricKey,
  "Metric of the metric sorts. metric-best takes the minimum where less is better (loss, error, ...). Runs without it come last.",
);

/** The order of a list of runs. */
export const runOrder = object({ sort_by: sortBy, metric_key: metricKeyOfSort });

/** The sort key of a table: that of a list, or a column. The service knows the columns. */
const tableSort: Field<string> = {
  ...anyText,
  schema: {
    type: "string",
    pattern: WITHOUT_NUL,
    default: RUN_SORTS[0],
    description: `${RUN_SORTS.join(", ")}, or a column: config.<path>, attributes.<path>, or metrics.<key> with an optional .latest, .best, .min, .max, .mean or .count behind it.`,
  },
  check: (value, name) => anyText.check(value, name) || RUN_SORTS[0],
  absent: () => RUN_SORTS[0],
};

/** The order of a table of runs. */
const tableOrder = join(
  object({ sort_by: tableSort, metric_key: metricKeyOfSort }),
  object({
    sort_dir: {
      ...anyText,
      schema: {
        type: "string",
        enum: ["asc", "desc"],
        description:
          "By default names, states and columns ascend, everything else descends. Runs without a value come last in both directions, equal ones newest first.",
      },
    },
  }),
);

const runPage = object({ limit: limit(RUNS_PAGE_ROWS), offset: offset() });

/** The parameters of both lists. */
const listQuery = join(runFilter, join(runOrder, runPage));

const deletedPart = object({
  deleted: described(
    deletedFlag,
    "Deleted runs come the newest first, and take project, project_id, status, display_status, limit and offset; q, stale and another sort_by than created are 400.",
  ),
});

/** Query of GET /runs. */
export const listRunsQuery = join(listQuery, deletedPart);

/** GET /runs. @throws bad_request */
export function decodeListRuns({ query }: RouteInput): MessageInitShape<typeof ListRunsRequestSchema> {
  const { deleted } = deletedPart.read(query);
  return { ...readList(query), ...(deleted ? { deleted } : {}) };
}

function readList(query: Query) {
  return { ...readPage(query), order: runOrder.read(query) };
}

function readPage(query: Query) {
  const page = runPage.read(query);
  return { filter: readFilter(query), limit: page.limit, offset: BigInt(page.offset) };
}

/** The schemas of the parameters that select runs, by name. */
export const selectionProperties = listRunsQuery.schema["properties"] as Readonly<Record<string, Schema>>;

/**
 * Reads the parameters of GET /runs as those of a selection, in which the limit may be left out.
 * @throws bad_request, also when deleted runs are requested
 */
export function readFilteredList(query: Query) {
  const { deleted } = deletedPart.read(query);
  if (deleted) throw badRequest("deleted runs cannot be selected", "deleted");
  const { limit: most, ...rest } = readList(query);
  return { ...rest, ...(query["limit"] === undefined ? {} : { limit: most }) };
}

/** `{runs}` with summaries. */
export async function encodeListRuns({ runs }: ListRunsResponse): Promise<RouteReply> {
  return { body: { runs: await writeListInTurns(runs, summaryJson) } };
}

const summaryPart = object({
  cursor: queryText({ description: "next_cursor of the page before, or `offset:<n>`; takes precedence over offset." }),
  projection: queryText({ description: "selection: rows for choosing runs, without metrics." }),
  columns: queryText({
    description:
      "Columns to show of each run, separated by commas, at most 50: config.<path>, metrics.<key> with an optional .latest, .best, .min, .max, .mean or .count " +
      "behind it, attributes.<path>. config.<path> also finds what log_config of the SDK wrote; a.b is the key a.b, else b of a.",
  }),
});

/** Query of GET /api/runs/summary. */
export const summarizeRunsQuery = join(runFilter, join(tableOrder, join(runPage, summaryPart)));

/** GET /api/runs/summary. @throws bad_request */
export function decodeSummarizeRuns(input: RouteInput): MessageInitShape<typeof SummarizeRunsRequestSchema> {
  const { query, knownTags } = input;
  const { cursor, projection, columns } = summaryPart.read(query);
  const names = columns.split(",").map((name) => name.trim());
  return {
    ...readPage(query),
    order: tableOrder.read(query),
    cursor: cursor.trim(),
    selection: projection === "selection",
    columns: [...new Set(names.filter((name) => name !== ""))],
    knownTags: [...knownTags],
  };
}

/** Answer of GET /api/runs/summary. */
export const summarizeRunsSchema: Schema = objectSchema(
  {
    projection: { type: "string", const: "selection" },
    runs: { type: "array", items: tableRowSchema },
    metric_keys: {
      type: "array",
      items: { type: "string" },
      description: `Keys of these runs, at most ${LIST_METRIC_KEYS_MAX}.`,
    },
    total: { ...countSchema, description: "How many runs the filter lets through." },
    next_cursor: { ...textOrNullSchema, description: "Holds its place while runs are added; null on the last page." },
    page_info: objectSchema({ pagination: { type: "string", const: "cursor" }, has_next_page: { type: "boolean" } }),
  },
  ["projection"],
);

/** `{runs, metric_keys, total, next_cursor, page_info}`; rows for choosing runs say so and have no keys. The tag does not change when a run is seen. */
export async function encodeSummarizeRuns(
  { runs, columnValues, metricKeys, total, nextCursor, tag, notModified }: SummarizeRunsResponse,
  { selection, columns }: ReturnType<typeof decodeSummarizeRuns>,
): Promise<RouteReply> {
  if (notModified) return { body: null, etag: tag, notModified };
  const names = (columns ?? []).map((name) => JSON.stringify(name));
  return {
    etag: tag,
    body: {
      ...(selection === true ? { projection: "selection" } : {}),
      runs: await writeListInTurns(runs, (run, i) => {
        const row = columnValues[i];
        if (row === undefined) return summaryJson(run);
        const { valuesJson, nonFinite } = row;
        return {
          ...summaryJson(run),
          columns: columnsJson(names, valuesJson),
          ...(nonFinite.length === 0 ? {} : { non_finite_columns: nonFinite.map((place) => columns![place]!) }),
        };
      }),
      metric_keys: metricKeys,
      total: Number(total),
      next_cursor: nextCursor === "" ? null : nextCursor,
      page_info: { pagination: "cursor", has_next_page: nextCursor !== "" },
    },
  };
}

/** Writes columns unchanged, because numbers keep their digits. */
function columnsJson(names: readonly string[], values: readonly string[]) {
  return raw(`{${names.map((name, i) => `${name}:${values[i] || "null"}`).join(",")}}`);
}

const overviewMetric = object({ metric_key: described(metricKey, "Metric of best_eval_return.") });

/** Query of GET /api/overview. */
export const overviewQuery = join(runFilter, overviewMetric);

/** GET /api/overview. @throws bad_request */
export function decodeOverview({ query }: RouteInput): MessageInitShape<typeof GetOverviewRequestSchema> {
  return { filter: readFilter(query), ...overviewMetric.read(query) };
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
