import { doublesOfBytes, indexesOfBytes } from "@tidemark/archive";
import type { ExportPointsResponse } from "@tidemark/proto/ingest/v1/archive";

/** Points of one run with the values of some keys. */
export type PointColumns = {
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
export function pick(numbers: Float64Array, points: Uint32Array | undefined): Float64Array {
  if (points === undefined) return numbers;
  const picked = new Float64Array(points.length);
  for (let i = 0; i < points.length; i++) picked[i] = numbers[points[i]!]!;
  return picked;
}
