import { encodePoints, writeColumn } from "@tidemark/archive";
import { pick, type PointColumns } from "./point-columns.rules.ts";

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
    yield encodePoints(columns.runId, columns.keys[key]!, { ...written.axis, value: writeColumn(values) });
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
