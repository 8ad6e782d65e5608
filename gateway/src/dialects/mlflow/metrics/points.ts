import { createHash } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { createColumnsBuilder, type MetricColumns } from "@tidemark/codecs/metrics";
import type { MetricColumnsSchema } from "@tidemark/proto/ingest/v1/ingest";
import type { Call } from "@tidemark/rpc";
import { readValue } from "../../../api/fields/field.ts";
import type { Clients } from "../../../clients.ts";
import { double, key, step, time } from "../fields.ts";

/** A point as MLflow has it; the time is in milliseconds since 1970. */
export type MlflowPoint = {
  readonly key: string;
  readonly step: number;
  readonly timestamp: number;
  readonly value: number;
};

/** Creates a reader of the points of one batch, whose keys mostly repeat and are checked once. It throws bad_request. */
export function createPointReader(): (fields: Readonly<Record<string, unknown>>) => MlflowPoint {
  const checked = new Set<unknown>();
  return (fields) => {
    const sent = fields["key"];
    if (!checked.has(sent)) checked.add(readValue(key, sent, "key"));
    return {
      key: sent as string,
      step: readValue(step, fields["step"], "step"),
      timestamp: readValue(time, fields["timestamp"], "timestamp"),
      value: readValue(double, fields["value"], "value"),
    };
  };
}

/** By step, then time: of equal steps the later time is the latest. */
const byPlace = (a: MlflowPoint, b: MlflowPoint): number => a.step - b.step || a.timestamp - b.timestamp;

/** Returns the points as columns. Neighbors of one step and time are one point of several keys; an equal one is left out. */
export function columnsOfPoints(points: readonly MlflowPoint[]): MetricColumns {
  const builder = createColumnsBuilder({ readOther: (value) => value as number });
  let values = emptyRecord();
  let place: MlflowPoint | undefined;
  const flush = (): void => {
    if (place !== undefined) builder.addPoint(values, place.step, place.timestamp * 1000);
    values = emptyRecord();
  };
  for (const point of points.toSorted(byPlace)) {
    const isNewPlace = place === undefined || byPlace(place, point) !== 0;
    const before = values[point.key];
    if (!isNewPlace && before !== undefined && Object.is(before, point.value)) continue;
    if (isNewPlace || before !== undefined) {
      flush();
      place = point;
    }
    values[point.key] = point.value;
  }
  flush();
  return builder.build();
}

function emptyRecord(): Record<string, number> {
  return Object.create(null) as Record<string, number>;
}

/**
 * Returns a function that stores points with one call. Its idempotency key is made from the run and the points, because clients repeat a request whose
 * answer was lost without saying so.
 */
export function pointsWriter(runId: string, points: readonly MlflowPoint[]) {
  const columns = columnsOfPoints(points);
  const idempotencyKey = `mlflow-${digestOf(runId, columns)}`;
  return async (clients: Clients, call: Call): Promise<void> => {
    // The message only counts and indexes its packed fields, so typed arrays are passed without a copy.
    const message = columns as unknown as MessageInitShape<typeof MetricColumnsSchema>;
    await clients.ingest.appendMetrics({ runId, batch: true, columns: message, idempotencyKey }, call);
  };
}

function digestOf(runId: string, { keys, steps, timestampsUs, values, offsets, pointIndexes }: MetricColumns): string {
  const digest = createHash("sha256").update(JSON.stringify([runId, keys, steps.length]));
  for (const column of [steps, timestampsUs, values, offsets, pointIndexes]) digest.update(column);
  return digest.digest("base64url");
}
