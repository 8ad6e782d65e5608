import { createScratchBuffer, decodeBlockKey, type BlockSeries } from "@tidemark/metric-codec";
import type { Chunk } from "./metric-segments.ts";

/** One for the process: chunks are decoded and taken one after another, and to reserve memory for each would take longer than to fill it. */
const room = createScratchBuffer();

/** The points of a chunk, in memory that the next chunk is decoded to: they are to be taken before. @throws CodecError when it is damaged */
export function decodeChunk(chunk: Chunk): BlockSeries {
  return decodeBlockKey(chunk, room);
}
