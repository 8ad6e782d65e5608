import type { Schema } from "../route.ts";
import { METRIC_LIMIT_MAX } from "./runs-get-request.ts";
import { METRIC_KEY_DEFAULT, RUN_SORTS, RUNS_LIMIT } from "./runs-list-request.ts";
import { RUN_STATUSES } from "./runs-update-request.ts";

const uuid: Schema = { type: "string", format: "uuid" };
const uuidOrNull: Schema = { type: ["string", "null"], format: "uuid" };
const time: Schema = { type: "string", format: "date-time" };
const timeOrNull: Schema = { type: ["string", "null"], format: "date-time" };
const textOrNull: Schema = { type: ["string", "null"] };
const numberOrNull: Schema = { type: ["number", "null"] };
const document: Schema = { type: "object", additionalProperties: true };
const tags: Schema = { type: "array", items: { type: "string", minLength: 1 } };
const status: Schema = { type: "string", enum: RUN_STATUSES };
const displayStatus: Schema = { type: "string", enum: ["running", "stopping", "stopped", "finished", "failed"] };

function objectOf(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
  return { type: "object", required: Object.keys(properties).filter((name) => !optional.includes(name)), properties };
}

const runProperties = {
  id: uuid,
  org_id: uuid,
  project_id: uuid,
  project: { type: "string" },
  name: { type: "string" },
  status,
  config: document,
  tags,
  metadata: document,
  notes: { ...textOrNull, description: "The text of metadata.notes." },
  created_at: time,
  started_at: time,
  finished_at: timeOrNull,
  parent_run_id: uuidOrNull,
  forked_from_step: numberOrNull,
  forked_from_artifact_id: uuidOrNull,
  resume_count: { type: "integer", minimum: 0 },
  resumed_at: timeOrNull,
  lifecycle: {
    type: "array",
    description: "The last 20 resumes, oldest first.",
    items: objectOf({ status_from: status, status_to: status, at: time, kind: { type: "string" } }),
  },
} as const;

/** A run row. */
export const runSchema: Schema = objectOf(runProperties);

/** Where a run's stop request stands. */
export const runControlSchema: Schema = objectOf(
  {
    stop_state: {
      type: "string",
      enum: ["none", "requested", "acknowledged", "completed", "terminal_without_completion"],
    },
    display_status: displayStatus,
    stop_request_id: uuidOrNull,
    stop_requested: { type: "boolean" },
    actor: textOrNull,
    stop_requested_at: timeOrNull,
    stop_acknowledged_at: timeOrNull,
    stop_completed_at: timeOrNull,
    updated_at: timeOrNull,
    reason: textOrNull,
    completion_message: textOrNull,
  },
  ["reason", "completion_message"],
);

const aggregates: Schema = objectOf({
  latest: numberOrNull,
  min: numberOrNull,
  max: numberOrNull,
  mean: numberOrNull,
  variance: { ...numberOrNull, description: "Population variance." },
  count: { type: "integer", minimum: 1 },
  best: { ...numberOrNull, description: "The maximum, or the minimum where less is better." },
  best_step: { ...numberOrNull, description: "The earliest step of the best value." },
});

const count: Schema = { type: "integer", minimum: 0 };

const summaryProperties = {
  ...runProperties,
  run_control: runControlSchema,
  latest_metrics: { type: "object", additionalProperties: numberOrNull },
  metric_aggregates: { type: "object", additionalProperties: aggregates },
  metric_keys: { type: "array", items: { type: "string" } },
  metric_keys_truncated: { type: "boolean", description: "Whether the run has more keys than are shown." },
  metric_keys_total: count,
  artifact_counts: objectOf({ checkpoint: count, rollout: count, file: count }),
} as const;

/** A run with what was derived from it. */
export const runSummarySchema: Schema = objectOf(summaryProperties);

/** The same for the read of one run, whose metric keys come in pages. */
export const runDetailSchema: Schema = objectOf({
  ...summaryProperties,
  metric_next_cursor: { ...textOrNull, description: "Send as metric_cursor for the next keys." },
});

/** Body of POST /runs. */
export const createRunSchema: Schema = {
  type: "object",
  properties: {
    id: { ...uuidOrNull, description: "An id of the client's choice; what makes a repeat recognisable." },
    mode: {
      type: ["string", "null"],
      enum: ["create", "auto", "resume", "", null],
      description:
        "create: a new run, or the one that this very request made before. auto: a new run, or the one with this id as it is. " +
        "resume: the run with this id, running again.",
    },
    project: { ...textOrNull, description: "Made if it is missing; default: `default`, or the key's own project." },
    name: { ...textOrNull, description: "Default: two words and the run's number in the project." },
    config: { type: ["object", "null"], additionalProperties: true },
    tags: { type: ["array", "null"], items: { type: "string", minLength: 1 } },
    metadata: { type: ["object", "null"], additionalProperties: true },
  },
};

/** Body of PATCH /runs/{run_id}. */
export const updateRunSchema: Schema = {
  type: "object",
  properties: {
    status: { type: ["string", "null"], enum: [...RUN_STATUSES, null] },
    tags: { type: ["array", "null"], items: { type: "string", minLength: 1 }, description: "Replaces all tags." },
    notes: { ...textOrNull, description: "The empty text removes the notes." },
  },
};

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

const runOrder: Readonly<Record<string, Schema>> = {
  sort_by: { type: "string", enum: RUN_SORTS, default: RUN_SORTS[0] },
  metric_key: {
    type: "string",
    default: METRIC_KEY_DEFAULT,
    description:
      "Metric of the metric sorts. metric-best takes the minimum where less is better (loss, error, ...). Runs without it come last.",
  },
};

const runPage: Readonly<Record<string, Schema>> = {
  limit: { type: "integer", minimum: 1, maximum: RUNS_LIMIT.max, default: RUNS_LIMIT.default },
  offset: { type: "integer", minimum: 0, default: 0 },
};

/** Query of GET /runs. */
export const listRunsQuery: Readonly<Record<string, Schema>> = { ...runFilters, ...runOrder, ...runPage };

/** Query of GET /api/runs/summary. */
export const summarizeRunsQuery: Readonly<Record<string, Schema>> = {
  ...listRunsQuery,
  cursor: { type: "string", description: "next_cursor of the page before, or `offset:<n>`; goes before offset." },
  projection: { type: "string", description: "selection: rows for choosing runs, without metrics." },
};

/** Query of GET /api/overview. */
export const overviewQuery: Readonly<Record<string, Schema>> = {
  ...runFilters,
  metric_key: { type: "string", default: METRIC_KEY_DEFAULT, description: "Metric of best_eval_return." },
};

/** Answer of GET /api/runs/summary. */
export const summarizeRunsSchema: Schema = objectOf(
  {
    projection: { type: "string", const: "selection" },
    runs: { type: "array", items: runSummarySchema },
    metric_keys: { type: "array", items: { type: "string" }, description: "Keys of these runs, at most 250." },
    total: { ...count, description: "How many runs the filter lets through." },
    next_cursor: { ...textOrNull, description: "Holds its place while runs are added; null on the last page." },
    page_info: objectOf({ pagination: { type: "string", const: "cursor" }, has_next_page: { type: "boolean" } }),
  },
  ["projection"],
);

/** Answer of GET /api/overview. */
export const overviewSchema: Schema = objectOf({
  overview: objectOf({
    total_runs: count,
    active_runs: { ...count, description: "Stored status running, stopping ones included." },
    failed_runs: { ...count, description: "Stored status failed, stopped ones included." },
    stopping_runs: count,
    stopped_runs: count,
    best_eval_return: { ...numberOrNull, description: "Best value of metric_key; null when no run has it." },
    metric_points: { ...count, description: "Metric values of these runs." },
  }),
});

/** Query of GET /runs/{run_id}. */
export const getRunQuery: Readonly<Record<string, Schema>> = {
  metric_prefix: { type: "string", description: "Only metric keys that begin with this text." },
  metric_limit: { type: "integer", minimum: 1, maximum: METRIC_LIMIT_MAX, default: METRIC_LIMIT_MAX },
  metric_cursor: { type: "string", description: "metric_next_cursor of the page before." },
};
