import { codecError } from "../codec-error.ts";
import { checkColumns, type MetricColumns } from "../columns/metric-columns.ts";
import {
  PRESENT_EVERYWHERE,
  PRESENT_SPARSE,
  SEGMENT_VERSION_TEXTS,
  VALUES_RAW,
  indexWidthFor,
  layoutOf,
  writeSegmentHeader,
} from "./segment-layout.ts";
import {
  sparseColumnsOf,
  stepCodecFor,
  timeCodecFor,
  writePointIndexes,
  writeSteps,
  writeTimes,
} from "./segment-sections.ts";

/** Keys one after another in UTF-8, and the number of bytes of each. */
type PackedKeys = { readonly bytes: Uint8Array; readonly lengths: Uint16Array };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Packs keys. Throws a CodecError for a key with a lone surrogate, which has no UTF-8 form, or of more than 65,535 bytes. */
function packKeys(keys: readonly string[]): PackedKeys {
  const joined = keys.join("");
  const bytes = encoder.encode(joined);
  // As many bytes as UTF-16 units: all keys are ASCII, as in most batches, and need not be encoded one by one.
  const ascii = bytes.length === joined.length;
  const lengths = new Uint16Array(keys.length);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (!ascii && !key.isWellFormed()) throw codecError("a key holds a lone surrogate");
    const length = ascii ? key.length : encoder.encode(key).length;
    if (length > 0xffff) throw codecError("a key is longer than 65,535 bytes");
    lengths[i] = length;
  }
  return { bytes, lengths };
}

/** Returns the keys that {@link packKeys} packed. Throws a CodecError if the lengths do not add up to the bytes or a key is not UTF-8. */
export function unpackKeys(bytes: Uint8Array, lengths: Uint16Array): string[] {
  let total = 0;
  for (const length of lengths) total += length;
  if (total !== bytes.length) throw codecError("the key lengths do not add up");
  const joined = decodeUtf8(bytes);
  const ascii = joined.length === bytes.length;
  const keys: string[] = [];
  let at = 0;
  for (const length of lengths) {
    keys.push(ascii ? joined.slice(at, at + length) : decodeUtf8(bytes.subarray(at, at + length)));
    at += length;
  }
  return keys;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw codecError("a key is not UTF-8");
  }
}

const UINT32_MAX = 0xffff_ffff;

/**
 * Encodes a batch as a segment of version 1, which holds the texts of its keys. Segments were written so before keys had ids; tests use this
 * to show that stored ones stay readable. Throws a CodecError if the columns do not have the promised form, or a key has a lone surrogate or
 * more than 65,535 bytes.
 */
export function encodeSegmentTexts(columns: MetricColumns): Uint8Array<ArrayBuffer> {
  checkColumns(columns);
  const { keys, steps, timestampsUs, values } = columns;
  const packed = packKeys(keys);
  const stepCodec = stepCodecFor(steps);
  const timeCodec = timeCodecFor(timestampsUs);
  const points = steps.length;
  if (values.length > UINT32_MAX || packed.bytes.length > UINT32_MAX) throw codecError("the batch is too large");
  const sparse = sparseColumnsOf(columns);
  const layout = layoutOf({
    version: SEGMENT_VERSION_TEXTS,
    stepCodec,
    timeCodec: timeCodec.codec,
    indexWidth: sparse.length === 0 ? 0 : indexWidthFor(points),
    points,
    keys: keys.length,
    sparseColumns: sparse.length,
    values: values.length,
    keysField: packed.bytes.length,
  });

  const buffer = new ArrayBuffer(layout.end);
  const segment = new Uint8Array(buffer);
  writeSegmentHeader(new DataView(buffer), layout);
  writeSteps(buffer, layout.stepsAt, stepCodec, steps);
  writeTimes(buffer, layout.timesAt, timeCodec, timestampsUs);
  new Float64Array(buffer, layout.valuesAt, values.length).set(values);
  const directory = new DataView(buffer, layout.directoryAt, 4 * keys.length);
  for (let key = 0; key < keys.length; key++) {
    directory.setUint16(4 * key, packed.lengths[key]!, true);
    directory.setUint8(4 * key + 2, PRESENT_EVERYWHERE);
    directory.setUint8(4 * key + 3, VALUES_RAW);
  }
  for (const key of sparse) directory.setUint8(4 * key + 2, PRESENT_SPARSE);
  writePointIndexes(buffer, layout, columns, sparse);
  segment.set(packed.bytes, layout.tailAt);
  return segment;
}
