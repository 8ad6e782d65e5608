import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, isAppError } from "@tidemark/errors";
import { createColumnsBuilder, type ColumnsBuilder } from "@tidemark/codecs/metrics";
import type {
  AppendMetricsRequestSchema,
  AppendMetricsResponse,
  MetricColumnsSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import { METRIC_KEYS_MAX } from "@tidemark/limits";
import { nonFiniteOf } from "@tidemark/values";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import {
  isObject,
  listOf,
  object,
  readValue,
  required,
  withDefault,
  withFault,
  type Field,
  type Fields,
} from "../fields/field.ts";
import { instantMicros } from "../fields/instant.ts";
import { step } from "../fields/number.ts";
import { requireText, textInputSchema } from "../fields/text.ts";
import { valueSchema } from "../replies.ts";

const metricsSchema: Schema = {
  type: "object",
  minProperties: 1,
  maxProperties: METRIC_KEYS_MAX,
  propertyNames: { pattern: textInputSchema()["pattern"] },
  additionalProperties: valueSchema,
  description:
    "A number for each key; NaN and infinities as texts, or as the bare tokens that Python writes. Keys are trimmed and have at most 512 bytes.",
};

/** The metrics of a point become columns, so they are checked where these are built. */
const metrics: Field<Fields> = (() => {
  const check = (value: unknown, name: string): Fields => {
    if (!isObject(value)) throw badRequest(`${name} must be an object with a number for each key`, name);
    return value;
  };
  return { ...required(metricsSchema, check), absent: (name) => check(undefined, name) };
})();

const stepField = step();
const timestamp = withDefault<number | null>(instantMicros, null);

/** One step of metrics. */
export const metricPoint = object({ metrics, step: stepField, timestamp });

/** The items are read into columns, by `readMetricBatch`. */
const points = listOf(metricPoint.schema, { itemsMin: 1, itemsMax: 500 }, (item) => item);

/** Body of POST /runs/{run_id}/metrics/batch: 1 to 500 points (API specification, Limits). */
export const metricBatch = object({ points });

/** POST /runs/{run_id}/metrics. Faults of the body travel in the message, because a missing run takes precedence. */
export function decodeAppendPoint(input: RouteInput): MessageInitShape<typeof AppendMetricsRequestSchema> {
  const { value, fault } = withFault(() => readMetricPoint(input.body));
  return { ...target(input), columns: value, bodyFault: fault };
}

/** POST /runs/{run_id}/metrics/batch, in the same way. */
export function decodeAppendBatch(input: RouteInput): MessageInitShape<typeof AppendMetricsRequestSchema> {
  const { value, fault } = withFault(() => readMetricBatch(input.body));
  return { ...target(input), batch: true, columns: value, bodyFault: fault };
}

/** `{"inserted": n}`, the number of values. */
export function encodeAppendMetrics(response: AppendMetricsResponse): RouteReply {
  return { body: { inserted: response.inserted }, replayed: response.replayed };
}

function target({ params, idempotencyKey = "" }: RouteInput): { runId: string; idempotencyKey: string } {
  return { runId: params["run_id"]!, idempotencyKey };
}

/** Reads the columns of one point. @throws bad_request */
export function readMetricPoint(body: Fields): MessageInitShape<typeof MetricColumnsSchema> {
  const builder = createColumnsBuilder(builderOptions);
  addPoint(builder, body);
  return columnsOf(builder);
}

function readMetricBatch(body: Fields): MessageInitShape<typeof MetricColumnsSchema> {
  const { points } = metricBatch.read(body);
  const builder = createColumnsBuilder(builderOptions);
  points.forEach((point, i) => {
    try {
      if (!isObject(point)) throw badRequest("must be an object");
      addPoint(builder, point);
    } catch (error) {
      throw isAppError(error) ? badRequest(`points[${i}]: ${error.message}`, "points") : error;
    }
  });
  return columnsOf(builder);
}

function addPoint(builder: ColumnsBuilder, fields: Fields): void {
  // Field by field: this is the hottest decoder, and an object for each point would double its time.
  const values = readValue(metrics, fields["metrics"], "metrics");
  const at = readValue(stepField, fields["step"], "step");
  const added = builder.addPoint(values, at, readValue(timestamp, fields["timestamp"], "timestamp"));
  if (added === -1)
    throw badRequest(`metrics: the value of ${shown(builder)} is not a number within double range`, "metrics");
  if (added === 0) throw badRequest("metrics must have at least one key", "metrics");
  if (added > METRIC_KEYS_MAX) throw badRequest(`metrics must have at most ${METRIC_KEYS_MAX} keys`, "metrics");
}

function resolveKey(key: string): string {
  return requireText(key, "metrics key");
}

const builderOptions = { resolveKey, readOther: nonFiniteOf };

const SHOWN_MAX = 64;

/** Returns the key whose value is at fault, shortened for an error text. */
function shown(builder: ColumnsBuilder): string {
  return JSON.stringify((builder.faultyKey() ?? "").slice(0, SHOWN_MAX));
}

/** The message only counts and indexes its packed fields, so typed arrays are passed without a copy. */
function columnsOf(builder: ColumnsBuilder): MessageInitShape<typeof MetricColumnsSchema> {
  return builder.build() as unknown as MessageInitShape<typeof MetricColumnsSchema>;
}
