import { EMPTY_F64, EMPTY_U32, copyNumbers, pick, valuesOfKey, type BlockColumns } from "./block-columns.ts";
import { lowerBound, numberKeyIds } from "./keys.ts";

/**
 * Joins parts, which are in the order of arrival. The result has the keys of all parts. A single part is returned unchanged; otherwise the
 * result shares nothing with the parts.
 */
export function concatColumns(allParts: readonly BlockColumns[]): BlockColumns {
  const parts = allParts.filter((part) => part.steps.length > 0);
  if (parts.length === 1) return parts[0]!;
  let points = 0;
  let valueCount = 0;
  for (const part of parts) {
    points += part.steps.length;
    valueCount += part.values.length;
  }
  const axis = {
    steps: joined(parts, points, (part) => part.steps),
    receivedUs: joined(parts, points, (part) => part.receivedUs),
    timestampsUs: joinedTimes(parts, points),
  };
  const first = parts[0]?.keyIds ?? EMPTY_U32;
  const dense = valueCount === first.length * points && parts.every((part) => hasSameKeys(part.keyIds, first));
  return dense
    ? { ...axis, keyIds: first.slice(), ...joinDense(parts, first.length, points) }
    : { ...axis, ...joinSparse(parts, valueCount) };
}

type Columns = Pick<BlockColumns, "values" | "offsets" | "pointIndexes">;

function joinDense(parts: readonly BlockColumns[], keys: number, points: number): Columns {
  const values = new Float64Array(keys * points);
  let pointsBefore = 0;
  for (const part of parts) {
    const count = part.steps.length;
    for (let key = 0; key < keys; key++)
      copyNumbers(values, key * points + pointsBefore, part.values, key * count, count);
    pointsBefore += count;
  }
  return { values, offsets: EMPTY_U32, pointIndexes: EMPTY_U32 };
}

function joinSparse(parts: readonly BlockColumns[], valueCount: number): Columns & Pick<BlockColumns, "keyIds"> {
  const { keyIds, indexOf } = numberKeyIds(parts.map((part) => part.keyIds));
  const offsets = new Uint32Array(keyIds.length + 1);
  for (const part of parts)
    for (let key = 0; key < part.keyIds.length; key++)
      offsets[indexOf(part.keyIds[key]!) + 1]! += valuesOfKey(part, key);
  for (let key = 1; key < offsets.length; key++) offsets[key]! += offsets[key - 1]!;
  const next = offsets.slice(0, keyIds.length);
  const values = new Float64Array(valueCount);
  const pointIndexes = new Uint32Array(valueCount);
  let pointsBefore = 0;
  for (const part of parts) {
    let from = 0;
    for (let key = 0; key < part.keyIds.length; key++) {
      const index = indexOf(part.keyIds[key]!);
      const count = valuesOfKey(part, key);
      const at = next[index]!;
      next[index] = at + count;
      copyNumbers(values, at, part.values, from, count);
      if (part.offsets.length === 0) for (let i = 0; i < count; i++) pointIndexes[at + i] = pointsBefore + i;
      else for (let i = 0; i < count; i++) pointIndexes[at + i] = pointsBefore + part.pointIndexes[from + i]!;
      from += count;
    }
    pointsBefore += part.steps.length;
  }
  return { keyIds, values, offsets, pointIndexes };
}

function joined(
  parts: readonly BlockColumns[],
  points: number,
  axisOf: (part: BlockColumns) => Float64Array,
): Float64Array {
  const numbers = new Float64Array(points);
  let at = 0;
  for (const part of parts) {
    const source = axisOf(part);
    copyNumbers(numbers, at, source, 0, source.length);
    at += source.length;
  }
  return numbers;
}

/** Joins the client times, with NaN for the points of parts that have none. */
function joinedTimes(parts: readonly BlockColumns[], points: number): Float64Array {
  if (parts.every((part) => part.timestampsUs.length === 0)) return EMPTY_F64;
  const times = new Float64Array(points).fill(Number.NaN);
  let at = 0;
  for (const part of parts) {
    copyNumbers(times, at, part.timestampsUs, 0, part.timestampsUs.length);
    at += part.steps.length;
  }
  return times;
}

function hasSameKeys(a: Uint32Array, b: Uint32Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Returns only the keys with ids in `[fromId, toId)`, without the points that have no value of them; null if there is none. Shares arrays with
 * `columns` where possible.
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

/** Removes the points without values. */
function withoutEmptyPoints(columns: BlockColumns): BlockColumns {
  const points = columns.steps.length;
  // For each point, first whether it has a value, then its new index.
  const newIndexes = new Uint32Array(points);
  for (let i = 0; i < columns.pointIndexes.length; i++) newIndexes[columns.pointIndexes[i]!] = 1;
  const kept = new Uint32Array(points);
  let count = 0;
  for (let point = 0; point < points; point++) {
    if (newIndexes[point] === 0) continue;
    newIndexes[point] = count;
    kept[count] = point;
    count += 1;
  }
  if (count === points) return densified(columns);
  const left = kept.subarray(0, count);
  const pointIndexes = new Uint32Array(columns.pointIndexes.length);
  for (let i = 0; i < pointIndexes.length; i++) pointIndexes[i] = newIndexes[columns.pointIndexes[i]!]!;
  return densified({
    ...columns,
    steps: pick(columns.steps, left),
    receivedUs: pick(columns.receivedUs, left),
    timestampsUs: timesOf(columns.timestampsUs, left),
    pointIndexes,
  });
}

/** Returns the client times of some points, none if they have none. */
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

/** Makes columns dense if every key has a value at every point. */
function densified(columns: BlockColumns): BlockColumns {
  const dense = columns.values.length === columns.keyIds.length * columns.steps.length;
  return dense ? { ...columns, offsets: EMPTY_U32, pointIndexes: EMPTY_U32 } : columns;
}
