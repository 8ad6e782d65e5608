import { valuesOfKey, type BlockColumns } from "../columns/block-columns.ts";
import { codecError } from "../../bytes/codec-error.ts";
import { addToSum, SUM_NUMBERS } from "../numbers/exact-sum.ts";
import type { SummedChunk } from "../sampling/bucket-sampler.ts";
import { CHUNK_STATISTICS_BYTES, CHUNK_SUM_BYTES } from "../storage-layout.ts";
import { readChunkStatistics } from "./chunk-statistics.ts";

/** Returns the sums of the chunks of a block, as `encodeBlock` makes them, for a block that was stored without. */
export function chunkSumsOf(columns: BlockColumns, firstKey: number): Uint8Array<ArrayBuffer> {
  const { keyIds, values } = columns;
  const sums = new Float64Array(SUM_NUMBERS * (keyIds[keyIds.length - 1]! - firstKey + 1));
  let from = 0;
  keyIds.forEach((keyId, key) => {
    const to = from + valuesOfKey(columns, key);
    addToSum(sums, SUM_NUMBERS * (keyId - firstKey), values, from, to);
    from = to;
  });
  return new Uint8Array(sums.buffer);
}

/** Reads the statistics of a chunk with its sum behind them. @throws CodecError for another number of bytes, and for an impossible count */
export function readSummedChunk(bytes: Uint8Array): SummedChunk {
  if (bytes.length !== CHUNK_STATISTICS_BYTES + CHUNK_SUM_BYTES)
    throw codecError("the statistics of a chunk with its sum have a wrong size");
  const view = new DataView(bytes.buffer, bytes.byteOffset + CHUNK_STATISTICS_BYTES, CHUNK_SUM_BYTES);
  return {
    ...readChunkStatistics(bytes.subarray(0, CHUNK_STATISTICS_BYTES)),
    sum: view.getFloat64(0, true),
    sumRest: view.getFloat64(8, true),
  };
}
