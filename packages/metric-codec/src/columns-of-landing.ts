import { copyNumbers, EMPTY_U32 } from "./block-columns.ts";
import type { BlockColumns } from "./block-columns.ts";
import { codecError } from "./codec-error.ts";
import type { SegmentColumns } from "./decode-landing.ts";

/**
 * The points of one landing block as block columns: keys by their ids and sorted by them, every point received at `receivedUs`. `idOf` names
 * the id of a key of a block that holds texts (version 1), and is needed for such. The result shares arrays with `landing` where it can.
 * Throws a CodecError when two keys have one id, or texts come without `idOf`.
 */
export function blockColumnsOfSegment(
  landing: SegmentColumns,
  receivedUs: number,
  idOf?: (key: string) => number,
): BlockColumns {
  const { steps, timestampsUs } = landing;
  const ids = landing.keyIds ?? idsOf(landing.keys ?? [], idOf);
  const axis = { steps, timestampsUs, receivedUs: new Float64Array(steps.length).fill(receivedUs) };
  if (isAscending(ids)) {
    const { values, offsets, pointIndexes } = landing;
    return { ...axis, keyIds: ids, values, offsets, pointIndexes };
  }
  const order = Uint32Array.from(ids, (_, i) => i).sort((a, b) => ids[a]! - ids[b]!);
  const keyIds = Uint32Array.from(order, (key) => ids[key]!);
  if (!isAscending(keyIds)) throw codecError("two keys of the landing block have one id");
  return { ...axis, keyIds, ...reordered(landing, order) };
}

function idsOf(keys: readonly string[], idOf: ((key: string) => number) | undefined): Uint32Array {
  if (idOf === undefined) throw codecError("the landing block holds keys, not their ids");
  return Uint32Array.from(keys, idOf);
}

/** Whether the ids ascend and are distinct. */
function isAscending(ids: Uint32Array): boolean {
  for (let i = 1; i < ids.length; i++) if (ids[i]! <= ids[i - 1]!) return false;
  return true;
}

/** The values with their point indexes, the columns in another order. */
function reordered(
  landing: SegmentColumns,
  order: Uint32Array,
): Pick<BlockColumns, "values" | "offsets" | "pointIndexes"> {
  const points = landing.steps.length;
  const values = new Float64Array(landing.values.length);
  if (landing.offsets.length === 0) {
    order.forEach((key, i) => copyNumbers(values, i * points, landing.values, key * points, points));
    return { values, offsets: EMPTY_U32, pointIndexes: EMPTY_U32 };
  }
  const offsets = new Uint32Array(order.length + 1);
  const pointIndexes = new Uint32Array(values.length);
  order.forEach((key, i) => {
    const from = landing.offsets[key]!;
    const count = landing.offsets[key + 1]! - from;
    const at = offsets[i]!;
    copyNumbers(values, at, landing.values, from, count);
    copyNumbers(pointIndexes, at, landing.pointIndexes, from, count);
    offsets[i + 1] = at + count;
  });
  return { values, offsets, pointIndexes };
}
