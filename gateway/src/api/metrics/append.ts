import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, isAppError } from "@tidemark/errors";
import { createColumnsBuilder, type ColumnsBuilder } from "@tidemark/metric-codec";
import type {
  AppendMetricsRequestSchema,
  AppendMetricsResponse,
  MetricColumnsSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { RouteInput, RouteReply } from "../../route.ts";
import {
  isRawNumber,
  present,
  readList,
  readOptionalInstant,
  readStep,
  requireText,
  withFault,
  type Fields,
} from "../fields/index.ts";

/** POST /runs/{run_id}/metrics as a message; faults of the body travel in it, because a missing run goes before them. */
export function decodeAppendPoint(input: RouteInput): MessageInitShape<typeof AppendMetricsRequestSchema> {
  const { value, fault } = withFault(() => readMetricPoint(input.body));
  return { ...target(input), columns: value, bodyFault: fault };
}

/** POST /runs/{run_id}/metrics/batch as a message, in the same way. */
export function decodeAppendBatch(input: RouteInput): MessageInitShape<typeof AppendMetricsRequestSchema> {
  const { value, fault } = withFault(() => readMetricBatch(input.body));
  return { ...target(input), batch: true, columns: value, bodyFault: fault };
}

/** `{"inserted": n}`, the number of values. */
export function encodeAppendMetrics(response: AppendMetricsResponse): RouteReply {
  return { body: { inserted: response.inserted }, replayed: response.replayed };
}

function target(input: RouteInput): { runId: string; idempotencyKey: string } {
  return { runId: input.params["run_id"]!, idempotencyKey: input.idempotencyKey ?? "" };
}

/** Most keys of one `metrics` object (API specification, Limits). */
const KEYS_MAX = 1000;
/** Most points of one batch. */
const POINTS_MAX = 500;

/**
 * The columns of one point: `{"metrics": {key: number}, "step": number, "timestamp"?: RFC 3339}`.
 * @throws bad_request
 */
export function readMetricPoint(body: Fields): MessageInitShape<typeof MetricColumnsSchema> {
  const builder = createColumnsBuilder({ resolveKey });
  addPoint(builder, body);
  return columnsOf(builder);
}

/** The columns of `{"points": [...]}`, 1 to 500 points in the form of `readMetricPoint`. @throws bad_request */
function readMetricBatch(body: Fields): MessageInitShape<typeof MetricColumnsSchema> {
  const points = readList(body, "points", { itemsMin: 1, itemsMax: POINTS_MAX });
  if (points === undefined) throw badRequest("points is required", "points");
  const builder = createColumnsBuilder({ resolveKey });
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

function addPoint(builder: ColumnsBuilder, point: Fields): void {
  const metrics = present(point, "metrics");
  if (!isObject(metrics)) throw badRequest("metrics must be an object with a number for each key", "metrics");
  const step = readStep(point, "step");
  const timestamp = readOptionalInstant(point, "timestamp");
  const added = builder.addPoint(metrics, step, timestamp?.micros ?? null);
  if (added === -1) throw badRequest(`metrics: the value of ${shown(builder)} is not a finite number`, "metrics");
  if (added === 0) throw badRequest("metrics must have at least one key", "metrics");
  if (added > KEYS_MAX) throw badRequest(`metrics must have at most ${KEYS_MAX} keys`, "metrics");
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

function resolveKey(key: string): string {
  return requireText(key, "metrics key");
}

const SHOWN_MAX = 64;

/** Returns the key whose value is at fault, shortened for an error text. */
function shown(builder: ColumnsBuilder): string {
  return JSON.stringify((builder.faultyKey() ?? "").slice(0, SHOWN_MAX));
}

/** The message only counts and indexes its packed fields, so typed arrays are passed without a copy. */
function columnsOf(builder: ColumnsBuilder): MessageInitShape<typeof MetricColumnsSchema> {
  return builder.build() as unknown as MessageInitShape<typeof MetricColumnsSchema>;
}
