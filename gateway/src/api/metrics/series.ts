import type { Route, Schema } from "../../route.ts";
import { present } from "../fields/field.ts";
import { decodeSeriesColumns, encodeSeriesColumns, seriesColumnsBody } from "./columns.ts";
import { listSchema, numberOrNullSchema, numberSchema, valueSchema } from "../replies.ts";
import { pointSchema } from "./points.ts";
import { decodeQuerySeries, encodeQuerySeries, querySeriesBody } from "./read.ts";

/** POST /api/metrics/series: with `format` columns, otherwise an object for each point. */
export const querySeries: Route["handle"] = async (input, { ingestRead }, call) => {
  if (present(input.body, "format") === undefined) {
    const request = decodeQuerySeries(input);
    return encodeQuerySeries(await ingestRead.queryMetricSeries(request.message, call), request);
  }
  const request = decodeSeriesColumns(input);
  return encodeSeriesColumns(await ingestRead.querySeriesColumns(request.message, call), request);
};

/** The body: which of the two forms it has, `format` says. */
export const seriesBodySchema: Schema = {
  type: "object",
  anyOf: [
    seriesColumnsBody.schema,
    {
      ...querySeriesBody.schema,
      properties: { ...(querySeriesBody.schema["properties"] as object), format: { type: "null" } },
    },
  ],
};

const facts = {
  truncated: { type: "boolean", description: "Some series is truncated." },
  requested_limit: { type: "integer" },
  effective_limit: { type: "integer" },
  requested_buckets: { type: ["integer", "null"] },
  effective_buckets: { type: ["integer", "null"] },
  run_count: { type: "integer" },
  total_point_cap: { type: "integer" },
};

const factNames = ["requested_limit", "effective_limit", "run_count", "total_point_cap"];

const answerOf = (item: Schema, more: Schema = {}): Schema => ({
  type: "object",
  required: [...Object.keys(more), "series", ...factNames],
  properties: { ...more, series: { type: "array", items: item }, ...facts },
});

const pointsSchema = answerOf({
  type: "object",
  required: ["run_id", "metrics", "truncated", "sampled"],
  properties: {
    run_id: { type: "string" },
    metrics: { type: "array", items: pointSchema },
    truncated: { type: "boolean" },
    sampled: { type: "boolean" },
  },
});

const numbers = (description: string): Schema => ({ ...listSchema(numberSchema), description });
const numbersOrNull = (description: string): Schema => ({ ...listSchema(numberOrNullSchema), description });

/** The series of one key in one run, as columns. */
export const seriesColumnsSchema: Schema = {
  type: "object",
  required: ["run_id", "key", "columns", "truncated", "sampled"],
  properties: {
    run_id: { type: "string" },
    key: { type: "string" },
    columns: {
      type: "object",
      description:
        "All of one length. Points have step, value and time; buckets step, min, max, mean, count, first and last.",
      required: ["step"],
      properties: {
        step: numbers("Of a bucket where it begins; with another axis than steps, the step of its first point."),
        value: { ...listSchema(valueSchema), description: "Values of points." },
        time: numbers("The client's time of a point, else when it was received: milliseconds since the Unix epoch."),
        min: numbersOrNull("Lowest finite value of each bucket; null, as in the next columns, without one."),
        max: numbersOrNull("Highest finite value of each bucket."),
        mean: numbersOrNull("Mean of the finite values of each bucket."),
        count: numbers("How many finite values each bucket has; buckets without points are left out."),
        first: numbersOrNull("The finite value at the lowest step of each bucket."),
        last: numbersOrNull("The finite value at the highest step of each bucket."),
        non_finite: numbers("How many values of each bucket are NaN or infinite; left out where no bucket has any."),
        smoothed: numbersOrNull("With `smoothing`; of a bucket the mean. Null without a finite value."),
        x: numbers("With another axis than steps, in ascending order; of a bucket where it begins."),
      },
    },
    truncated: { type: "boolean", description: "There are more points than the limit." },
    sampled: { type: "boolean", description: "These are buckets." },
  },
};

const columnsSchema = answerOf(seriesColumnsSchema, { format: { type: "string", enum: ["columns"] } });

/** The answer: which of the two forms it has, `format` says. */
export const seriesResponseSchema: Schema = { type: "object", anyOf: [columnsSchema, pointsSchema] };
