import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest } from "@tidemark/errors";
import { SERIES_KEYS_MAX, SERIES_POINTS } from "@tidemark/limits";
import { SMOOTHING_KINDS } from "@tidemark/codecs/metrics";
import {
  SeriesAxis,
  SmoothingKind,
  type QuerySeriesColumnsRequestSchema,
  type QuerySeriesColumnsResponse,
  type SeriesColumns,
} from "@tidemark/proto/ingest/v1/ingest";
import { createPauses } from "@tidemark/work";
import { createJsonBytes, writeJson, type JsonBytes } from "../../http/json.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import {
  boolean,
  checked,
  described,
  join,
  list,
  object,
  optional,
  required,
  withDefault,
  type Field,
} from "../fields/field.ts";
import { integer, number, step, stepRange } from "../fields/number.ts";
import { requireText, text, textInputSchema, uuid, word } from "../fields/text.ts";

/** What the field of the message can hold; the service applies the limit. */
const UINT32_MAX = 2 ** 32 - 1;

type ChartAxis = { readonly axis: SeriesAxis; readonly axisKey: string };

const AXES: Readonly<Record<string, SeriesAxis>> = {
  step: SeriesAxis.STEP,
  time: SeriesAxis.TIME,
  relative: SeriesAxis.RELATIVE,
};
/** The axis of steps. */
export const STEPS: ChartAxis = { axis: SeriesAxis.STEP, axisKey: "" };
const METRIC_PREFIX = "metric:";

const axisSchema: Schema = {
  type: "string",
  anyOf: [
    { enum: Object.keys(AXES) },
    { pattern: String(textInputSchema()["pattern"]).replace("^", `^${METRIC_PREFIX}`) },
  ],
};

/** The schema of an object that has a field whose value `value` allows. */
function has(name: string, value: Schema = { not: { type: "null" } }): Schema {
  return { required: [name], properties: { [name]: value } };
}

/** The horizontal axis of a chart; steps where it is left out. */
export const chartAxis: Field<ChartAxis> = described(
  required(axisSchema, (value, name) => {
    const axis = typeof value === "string" && Object.hasOwn(AXES, value) ? AXES[value] : undefined;
    if (axis !== undefined) return { axis, axisKey: "" };
    if (typeof value !== "string" || !value.startsWith(METRIC_PREFIX))
      throw badRequest(`${name} must be one of step, time, relative and ${METRIC_PREFIX}<key>`, name);
    return { axis: SeriesAxis.METRIC, axisKey: requireText(value.slice(METRIC_PREFIX.length), name) };
  }),
  "The other axis than steps adds the column `x` and orders by it: `time` in milliseconds since the Unix epoch, `relative` in seconds since the run started, or since the first of its points where that is earlier, " +
    "`metric:<key>` the value of that metric at the same step; points without one are left out.",
);

const KINDS = {
  ema: SmoothingKind.EMA,
  gaussian: SmoothingKind.GAUSSIAN,
  mean: SmoothingKind.MEAN,
} as const;

/** What the parameter of each kind of smoothing means. */
export const SMOOTHING_WORDS =
  "`ema`: exponential moving average, where `parameter` in [0, 1) is what is left of the past after one step; `gaussian` and `mean` (running average): " +
  "the standard deviation and the width in steps.";

const smoothing = object({ kind: word(SMOOTHING_KINDS), parameter: number() });

const smoothingSchema: Schema = {
  ...smoothing.schema,
  anyOf: [
    { properties: { kind: { enum: ["ema"] }, parameter: { minimum: 0, exclusiveMaximum: 1 } } },
    { properties: { kind: { enum: ["gaussian", "mean"] }, parameter: { exclusiveMinimum: 0 } } },
  ],
};

/** How series are smoothed. The text of a fault names the member, its `field` the whole. */
export const smoothingField: Field<{ kind: SmoothingKind; parameter: number }> = described(
  required(smoothingSchema, (value, name) => {
    try {
      const { kind, parameter } = smoothing.check(value, name);
      const isRight = kind === "ema" ? parameter >= 0 && parameter < 1 : parameter > 0;
      if (!isRight)
        throw badRequest(`parameter of ${kind} must be ${kind === "ema" ? "from 0 to below 1" : "above 0"}`);
      return { kind: KINDS[kind], parameter };
    } catch (error) {
      const { message } = error as Error;
      throw badRequest(message.startsWith(name) ? message : `${name}: ${message}`, name);
    }
  }),
  `Adds the column \`smoothed\`, which is calculated from all points, including those that are not shown; for a bucket, its mean. ${SMOOTHING_WORDS}`,
);

/** Body of POST /api/metrics/series with a format. */
export const seriesColumnsBody = checked(
  join(
    join(
      object({
        format: described(word(["columns"]), "Answers with columns instead of an object for each point."),
        key: optional(text()),
        keys: described(
          optional(list(text(), { itemsMin: 1, itemsMax: SERIES_KEYS_MAX })),
          "Different keys, instead of `key`.",
          { uniqueItems: true },
        ),
        run_ids: list(uuid(), { itemsMin: 1, itemsMax: 2000 }),
      }),
      stepRange,
    ),
    object({
      limit: described(
        withDefault(integer({ min: 1 }), SERIES_POINTS.default, { default: SERIES_POINTS.default }),
        "Points of each series without `buckets`. Above 5,000 counts as 5,000.",
      ),
      buckets: described(
        optional(integer({ min: 1, max: 4096 })),
        "Summarizes each series of more points in parts of equal width, also between start_step and end_step.",
      ),
      edges: described(optional(boolean()), "Also the point before start_step and the one behind end_step."),
      grid: described(
        withDefault(word(["own", "shared"]), "own", { default: "own" }),
        "Parts of the range of each series, or the same parts for all.",
      ),
      after_step: described(optional(step()), "Only points behind this step; without start_step, end_step and edges."),
      x: withDefault(chartAxis, STEPS, { default: "step" }),
      smoothing: optional(smoothingField),
      lineage: described(
        optional(boolean()),
        "Of a fork also the points of its parent up to the step of the fork, and so on, as far as the caller may see.",
      ),
    }),
  ),
  ({ key, keys, afterStep, startStep, endStep, edges }) => {
    if (key !== undefined && keys !== undefined) throw badRequest("send either key or keys", "keys");
    if (key === undefined && keys === undefined) throw badRequest("keys is required", "keys");
    if (keys !== undefined && new Set(keys).size < keys.length) throw badRequest("keys must be different", "keys");
    if (afterStep !== undefined && (startStep !== undefined || endStep !== undefined || edges === true))
      throw badRequest("after_step does not go together with start_step, end_step and edges", "after_step");
  },
  {
    oneOf: [has("key"), has("keys")],
    not: { allOf: [has("after_step"), { anyOf: [has("start_step"), has("end_step"), has("edges", { const: true })] }] },
  },
);

/** The client's request, and the message that passes it to the service. */
export type ColumnsRequest = {
  readonly message: MessageInitShape<typeof QuerySeriesColumnsRequestSchema>;
  /** As they were sent. */
  readonly runIds: readonly string[];
  readonly limit: number;
  readonly buckets: number | undefined;
};

/** POST /api/metrics/series with a format. @throws bad_request */
export function decodeSeriesColumns({ body, knownTags }: RouteInput): ColumnsRequest {
  const { key, keys, format: _format, grid, x, edges, lineage, limit, ...asked } = seriesColumnsBody.read(body);
  return {
    message: {
      ...asked,
      ...x,
      keys: keys ?? [key!],
      limit: Math.min(limit, UINT32_MAX),
      edges: edges ?? false,
      sharedGrid: grid === "shared",
      lineage: lineage ?? false,
      knownTags: [...knownTags],
    },
    runIds: body["run_ids"] as readonly string[],
    limit,
    buckets: asked.buckets,
  };
}

const POINT_COLUMNS = ["step", "value", "time"] as const;
const BUCKET_COLUMNS = ["step", "min", "max", "mean", "count", "first", "last"] as const;
const ADDED_COLUMNS = ["smoothed", "x"] as const;

/**
 * One series for each key and requested id, which is returned as it was sent: those of the first key in the order of the ids, then those of the next. Written
 * in turns, because a hundred thousand buckets take a tenth of a second.
 */
export async function encodeSeriesColumns(
  response: QuerySeriesColumnsResponse,
  request: ColumnsRequest,
): Promise<RouteReply> {
  if (response.notModified) return { body: null, etag: response.tag, notModified: true };
  const { runIds, buckets } = request;
  const json = createJsonBytes(64 * 1024);
  json.text('{"format":"columns","series":[');
  const pauseIfLong = createPauses();
  for (const [i, series] of response.series.entries()) {
    if (i > 0) json.text(",");
    addSeries(json, series, runIds[i % runIds.length]!);
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
  const rest = writeJson({
    truncated: response.series.some(({ truncated }) => truncated),
    requested_limit: request.limit,
    effective_limit: response.effectiveLimit,
    requested_buckets: buckets ?? null,
    effective_buckets: response.effectiveBuckets ?? null,
    run_count: runIds.length,
    total_point_cap: response.totalPointCap,
  });
  json.text(`],${rest.slice(1)}`);
  return { body: null, bytes: json.take(), etag: response.tag };
}

/** Adds a series, with the id of its run as it is to be shown. */
export function addSeries(json: JsonBytes, series: SeriesColumns, runId: string): void {
  json.text(`{"run_id":${JSON.stringify(runId)},"key":${JSON.stringify(series.key)},`);
  addColumns(json, series);
  json.text(`,"truncated":${series.truncated},"sampled":${series.sampled}}`);
}

/** Adds the columns that a series has. */
function addColumns(json: JsonBytes, series: SeriesColumns): void {
  const added = ADDED_COLUMNS.filter((name) => series[name].length > 0);
  const names = [...(series.sampled ? BUCKET_COLUMNS : POINT_COLUMNS), ...added];
  names.forEach((name, i) => {
    json.text(`${i === 0 ? '"columns":{' : ","}"${name}":`);
    if (name === "value") json.values(series[name]);
    else json.numbers(series[name]);
  });
  if (series.nonFinite.length > 0) {
    json.text(',"non_finite":');
    json.numbers(series.nonFinite);
  }
  json.text("}");
}
