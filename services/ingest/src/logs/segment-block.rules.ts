import { encodeLogBlock, type LogColumns } from "@tidemark/codecs/logs";

/**
 * A segment up to this size fits into a page of PostgreSQL with its row: to compress it would cost the server more than writing it costs
 * PostgreSQL, and it is compacted within a minute. Larger segments are compressed, so that less is written to the disk.
 */
const COMPRESS_FROM = 7_500;

/** Returns the block of a new segment. */
export function segmentBlockOf(columns: LogColumns): Uint8Array {
  return encodeLogBlock(columns, { compressFrom: COMPRESS_FROM });
}
