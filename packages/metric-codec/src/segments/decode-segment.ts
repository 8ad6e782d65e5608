import { codecError } from "../codec-error.ts";
import { EMPTY_U32, copyNumbers, type BlockColumns } from "../columns/block-columns.ts";
import { areKeysSorted } from "../columns/keys.ts";
import { checkPointIndexes, type MetricColumns } from "../columns/metric-columns.ts";
import { IDS_LISTED, PRESENT_SPARSE, SEGMENT_VERSION_TEXTS, readLayout, type SegmentLayout } from "./segment-layout.ts";
import { aligned, countsOf, presenceOf, readIndexes, readSteps, readTimes } from "./segment-sections.ts";
import { unpackKeys } from "./segment-texts.ts";

/**
 * A batch as a landing block holds it: MetricColumns whose keys are named by `keyIds` (version 2) or by `keys` (version 1); the other of the
 * two is null. Ids are in the order of the columns, which need not be their own, and a damaged block may repeat one.
 */
export type SegmentColumns = Omit<MetricColumns, "keys"> &
  ({ readonly keys: readonly string[]; readonly keyIds: null } | { readonly keys: null; readonly keyIds: Uint32Array });

/**
 * The batch of a landing block of either version. The arrays may be views of `bytes`, which must then not change; bytes that do not start at
 * a multiple of 8 in their buffer are copied once. Throws a CodecError for anything that was not written as a landing block: cut short, too
 * long, of an unknown version or codec, or contradicting itself. What is damaged inside a number cannot be noticed.
 */
export function decodeSegment(bytes: Uint8Array): SegmentColumns {
  const layout = readLayout(bytes);
  const block = aligned(bytes);
  const presence = presenceOf(block, layout);
  return {
    ...readKeys(block, layout),
    steps: readSteps(block, layout.stepsAt, layout.stepCodec, layout.points),
    timestampsUs: readTimes(block, layout.timesAt, layout.timeCodec, layout.points),
    values: new Float64Array(block.buffer, block.byteOffset + layout.valuesAt, layout.values),
    ...readPoints(block, layout, presence),
  };
}

type Keys =
  | { readonly keys: readonly string[]; readonly keyIds: null }
  | { readonly keys: null; readonly keyIds: Uint32Array };

function readKeys(block: Uint8Array, layout: SegmentLayout): Keys {
  if (layout.version === SEGMENT_VERSION_TEXTS) return { keys: readTexts(block, layout), keyIds: null };
  if (layout.keysField === IDS_LISTED) {
    return { keys: null, keyIds: new Uint32Array(block.buffer, block.byteOffset + layout.directoryAt, layout.keys) };
  }
  // Dense blocks say how many keys they have by the size of their values alone; a block of consecutive ids has one value each at least.
  const keyIds = new Uint32Array(layout.keys);
  for (let key = 0; key < keyIds.length; key++) keyIds[key] = layout.keysField + key;
  return { keys: null, keyIds };
}

function readTexts(block: Uint8Array, layout: SegmentLayout): string[] {
  const lengths = new Uint16Array(layout.keys);
  for (let key = 0; key < lengths.length; key++) {
    const at = layout.directoryAt + 4 * key;
    lengths[key] = block[at]! | (block[at + 1]! << 8);
  }
  const keys = unpackKeys(block.subarray(layout.tailAt, layout.end), lengths);
  if (!areKeysSorted(keys)) throw codecError("the keys of the landing block are not distinct and in byte order");
  return keys;
}

/** The offsets and point indexes of all keys, both empty when no key is sparse. */
function readPoints(
  block: Uint8Array,
  layout: SegmentLayout,
  presence: Uint8Array,
): Pick<MetricColumns, "offsets" | "pointIndexes"> {
  const counts = countsOf(block, layout);
  const sparseSeen = presence.reduce((sum, one) => sum + one, 0);
  if (sparseSeen !== layout.sparseColumns)
    throw codecError("the landing block names another number of sparse columns than it has");
  if (sparseSeen === 0) return { offsets: new Uint32Array(0), pointIndexes: new Uint32Array(0) };
  const offsets = new Uint32Array(layout.keys + 1);
  const pointIndexes = new Uint32Array(layout.values);
  let to = 0;
  let column = 0;
  let indexesFrom = 0;
  for (let key = 0; key < layout.keys; key++) {
    const from = to;
    const isSparse = presence[key] === PRESENT_SPARSE;
    const count = isSparse ? counts[column++]! : layout.points;
    to = from + count;
    if (to > layout.values) throw codecError("a column of the landing block is out of bounds");
    offsets[key + 1] = to;
    if (isSparse) {
      pointIndexes.set(readIndexes(block, layout, indexesFrom, count), from);
      checkPointIndexes(pointIndexes, from, to, layout.points);
      indexesFrom += count;
    } else for (let point = 0; point < count; point++) pointIndexes[from + point] = point;
  }
  if (to !== layout.values) throw codecError("the columns of the landing block do not add up");
  return { offsets, pointIndexes };
}

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
