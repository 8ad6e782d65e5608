import { EMPTY_F64, EMPTY_U32 } from "./block-columns.ts";
import type { BlockColumns } from "./block-columns.ts";
import { lowerBound } from "./key-ranks.ts";
import { pick } from "./pick.ts";

/**
 * Only the keys with ids in `[fromId, toId)`, without the points that have no value of them; null when none is left. Shares arrays with
 * `columns` where it can.
 */
export function sliceKeys(columns: BlockColumns, fromId: number, toId: number): BlockColumns | null {
  const { keyIds, steps, offsets, values } = columns;
  const first = lowerBound(keyIds, fromId, 0, keyIds.length);
  const end = lowerBound(keyIds, toId, first, keyIds.length);
  if (first === end) return null;
  if (first === 0 && end === keyIds.length) return columns;
  const chosen = keyIds.subarray(first, end);
  if (offsets.length === 0) {
    return { ...columns, keyIds: chosen, values: values.subarray(first * steps.length, end * steps.length) };
  }
  const from = offsets[first]!;
  const to = offsets[end]!;
  return withoutEmptyPoints({
    ...columns,
    keyIds: chosen,
    offsets: offsetsFrom(offsets.subarray(first, end + 1), from),
    pointIndexes: columns.pointIndexes.subarray(from, to),
    values: values.subarray(from, to),
  });
}

/** The columns without the points that no value is at. */
function withoutEmptyPoints(columns: BlockColumns): BlockColumns {
  const points = columns.steps.length;
  // Per point, first whether a value is there, then its new place.
  const places = new Uint32Array(points);
  for (let i = 0; i < columns.pointIndexes.length; i++) places[columns.pointIndexes[i]!] = 1;
  const kept = new Uint32Array(points);
  let count = 0;
  for (let point = 0; point < points; point++) {
    if (places[point] === 0) continue;
    places[point] = count;
    kept[count] = point;
    count += 1;
  }
  if (count === points) return densified(columns);
  const left = kept.subarray(0, count);
  const pointIndexes = new Uint32Array(columns.pointIndexes.length);
  for (let i = 0; i < pointIndexes.length; i++) pointIndexes[i] = places[columns.pointIndexes[i]!]!;
  return densified({
    ...columns,
    steps: pick(columns.steps, left),
    receivedUs: pick(columns.receivedUs, left),
    timestampsUs: timesOf(columns.timestampsUs, left),
    pointIndexes,
  });
}

/** The client times of some points; none when they have none. */
function timesOf(timestampsUs: Float64Array, points: Uint32Array): Float64Array {
  if (timestampsUs.length === 0) return timestampsUs;
  const times = pick(timestampsUs, points);
  return times.every(Number.isNaN) ? EMPTY_F64 : times;
}

function offsetsFrom(offsets: Uint32Array, from: number): Uint32Array {
  const moved = new Uint32Array(offsets.length);
  for (let i = 0; i < moved.length; i++) moved[i] = offsets[i]! - from;
  return moved;
}

/** Sparse columns in which every key turns out to have a value at every point, as dense ones. */
function densified(columns: BlockColumns): BlockColumns {
  const dense = columns.values.length === columns.keyIds.length * columns.steps.length;
  return dense ? { ...columns, offsets: EMPTY_U32, pointIndexes: EMPTY_U32 } : columns;
}
