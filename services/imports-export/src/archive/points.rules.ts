import { doublesOfBytes, encodePoints, indexesOfBytes, writeColumn, writeValueColumn } from "@tidemark/archive";
import type { ExportPointsResponse } from "@tidemark/proto/ingest/v1/archive";

/** Points of one run with the values of some keys. */
type PointColumns = {
  readonly runId: string;
  readonly keys: readonly string[];
  readonly steps: Float64Array;
  readonly createdUs: Float64Array;
  /** Undefined when no point has a client's time. */
  readonly timestampsUs: Float64Array | undefined;
  /** For each key, its values, and their points where not every point has one. */
  readonly series: readonly { readonly values: Float64Array; readonly points: Uint32Array | undefined }[];
};

/** Reads the columns of a message. */
export function columnsOf(message: ExportPointsResponse): PointColumns {
  const steps = doublesOfBytes(message.steps);
  const values = doublesOfBytes(message.values);
  const offsets = indexesOfBytes(message.offsets);
  const pointIndexes = indexesOfBytes(message.pointIndexes);
  const timestampsUs = doublesOfBytes(message.timestampsUs);
  const series = message.keys.map((_, key) => {
    if (offsets.length === 0) {
      return { values: values.subarray(key * steps.length, (key + 1) * steps.length), points: undefined };
    }
    const [from, to] = [offsets[key]!, offsets[key + 1]!];
    const points = to - from === steps.length ? undefined : pointIndexes.subarray(from, to);
    return { values: values.subarray(from, to), points };
  });
  return {
    runId: message.runId,
    keys: message.keys,
    steps,
    createdUs: doublesOfBytes(message.createdUs),
    timestampsUs: timestampsUs.length === 0 ? undefined : timestampsUs,
    series,
  };
}

/** Returns the numbers of some points; of all without `points`. */
function pick(numbers: Float64Array, points: Uint32Array | undefined): Float64Array {
  if (points === undefined) return numbers;
  const picked = new Float64Array(points.length);
  for (let i = 0; i < points.length; i++) picked[i] = numbers[points[i]!]!;
  return picked;
}

type Axis = { readonly step: string; readonly timestamp: string | undefined; readonly created_at: string };

/**
 * Writes the lines of some points, one for each key. Steps and times are written once for all keys that have values at the same points, because they
 * are most of the characters.
 */
export function* pointLines(columns: PointColumns): Generator<string, void, undefined> {
  let written: { points: Uint32Array | undefined; axis: Axis } | undefined;
  for (const [key, { values, points }] of columns.series.entries()) {
    if (written === undefined || !areSame(written.points, points))
      written = { points, axis: writeAxis(columns, points) };
    yield encodePoints(columns.runId, columns.keys[key]!, { ...written.axis, value: writeValueColumn(values) });
  }
}

function writeAxis({ steps, createdUs, timestampsUs }: PointColumns, points: Uint32Array | undefined): Axis {
  const timestamps = timestampsUs && pick(timestampsUs, points);
  return {
    step: writeColumn(pick(steps, points)),
    timestamp: timestamps === undefined || timestamps.every(Number.isNaN) ? undefined : writeColumn(timestamps),
    created_at: writeColumn(pick(createdUs, points)),
  };
}

function areSame(a: Uint32Array | undefined, b: Uint32Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every((point, i) => point === b[i]);
}

/** Rows of points in columns: item i of each column is about row i. Times are whole microseconds since the Unix epoch. */
export type PointRows = {
  readonly runIds: string[];
  readonly runNames: string[];
  readonly keys: string[];
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** Null if the client sent no time. */
  readonly timestampsUs: (bigint | null)[];
  readonly createdUs: bigint[];
};

/** Returns the points of some columns as rows, at most `rowsMax` at a time, key by key in the order of arrival. */
export function* pointRows(
  columns: PointColumns,
  runName: string,
  rowsMax: number,
): Generator<PointRows, void, undefined> {
  for (const [i, { values, points }] of columns.series.entries()) {
    const steps = pick(columns.steps, points);
    const createdUs = pick(columns.createdUs, points);
    const timestampsUs = columns.timestampsUs && pick(columns.timestampsUs, points);
    for (let from = 0; from < values.length; from += rowsMax) {
      const to = Math.min(from + rowsMax, values.length);
      const same = (text: string): string[] => Array.from({ length: to - from }, () => text);
      yield {
        runIds: same(columns.runId),
        runNames: same(runName),
        keys: same(columns.keys[i]!),
        steps: steps.subarray(from, to),
        values: values.subarray(from, to),
        timestampsUs:
          timestampsUs === undefined
            ? Array.from({ length: to - from }, () => null)
            : Array.from(timestampsUs.subarray(from, to), (us) => (Number.isNaN(us) ? null : BigInt(us))),
        createdUs: Array.from(createdUs.subarray(from, to), BigInt),
      };
    }
  }
}

/** Joins rows. */
export function joinRows(parts: readonly PointRows[]): PointRows {
  const numbers = (column: "steps" | "values"): Float64Array => {
    const joined = new Float64Array(parts.reduce((sum, { values }) => sum + values.length, 0));
    let at = 0;
    for (const part of parts) {
      joined.set(part[column], at);
      at += part[column].length;
    }
    return joined;
  };
  return {
    runIds: parts.flatMap(({ runIds }) => runIds),
    runNames: parts.flatMap(({ runNames }) => runNames),
    keys: parts.flatMap(({ keys }) => keys),
    steps: numbers("steps"),
    values: numbers("values"),
    timestampsUs: parts.flatMap(({ timestampsUs }) => timestampsUs),
    createdUs: parts.flatMap(({ createdUs }) => createdUs),
  };
}
