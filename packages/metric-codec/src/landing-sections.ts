import { codecError } from "./codec-error.ts";
import { SEGMENT_VERSION_TEXTS, PRESENT_EVERYWHERE, PRESENT_SPARSE, VALUES_RAW } from "./landing-layout.ts";
import type { SegmentLayout } from "./landing-layout.ts";

/** The same bytes at a multiple of 8 in their buffer, where the sections can be viewed as numbers. */
export function aligned(bytes: Uint8Array): Uint8Array {
  return bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
}

/** Per key, whether it is sparse, after every code was found to be known. */
export function presenceOf(block: Uint8Array, layout: SegmentLayout): Uint8Array {
  const presence = new Uint8Array(layout.keys);
  if (layout.version !== SEGMENT_VERSION_TEXTS && layout.sparseColumns === 0) return presence;
  for (let key = 0; key < presence.length; key++) presence[key] = presenceAt(block, layout, key);
  return presence;
}

/** The presence code of one key; throws a CodecError when it, or the value codec of version 1, is unknown. */
export function presenceAt(block: Uint8Array, layout: SegmentLayout, key: number): number {
  let presence: number;
  if (layout.version === SEGMENT_VERSION_TEXTS) {
    const at = layout.directoryAt + 4 * key;
    presence = block[at + 2]!;
    if (block[at + 3] !== VALUES_RAW) throw codecError("the landing block has an unknown value codec");
  } else presence = layout.sparseColumns === 0 ? PRESENT_EVERYWHERE : block[layout.tailAt + key]!;
  if (presence !== PRESENT_EVERYWHERE && presence !== PRESENT_SPARSE)
    throw codecError("the landing block has an unknown presence code");
  return presence;
}

/** The number of values of each sparse column. */
export function countsOf(block: Uint8Array, layout: SegmentLayout): Uint32Array {
  return new Uint32Array(block.buffer, block.byteOffset + layout.countsAt, layout.sparseColumns);
}

/** The point indexes of one sparse column, the first of them `from` indexes into their section. */
export function readIndexes(block: Uint8Array, layout: SegmentLayout, from: number, count: number): Uint32Array {
  const at = layout.indexesAt + layout.indexWidth * from;
  if (at + layout.indexWidth * count > layout.tailAt)
    throw codecError("point indexes of the landing block are out of bounds");
  const start = block.byteOffset + at;
  return layout.indexWidth === 2
    ? Uint32Array.from(new Uint16Array(block.buffer, start, count))
    : new Uint32Array(block.buffer, start, count);
}
