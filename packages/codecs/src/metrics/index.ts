export {
  aggregateNumbersOf,
  aggregatePageOf,
  aggregateStartOf,
  mergeAggregate,
  readAggregate,
} from "./aggregates/aggregate-page.ts";
export { aggregatesOfColumns, bestOf, isMinimizeKey, populationVariance } from "./aggregates/key-aggregates.ts";
export type { KeyAggregate } from "./aggregates/key-aggregates.ts";
export { readChunkStatistics } from "./blocks/chunk-statistics.ts";
export { chunkSumsOf, readSummedChunk } from "./blocks/chunk-sums.ts";
export type { ChunkStatistics } from "./blocks/chunk-statistics.ts";
export { decodeBlock, openBlock } from "./blocks/decode-block.ts";
export type { BlockAxis, BlockKeyReader } from "./blocks/decode-block.ts";
export { encodeBlock } from "./blocks/encode-block.ts";
export type { EncodeBlockOptions, EncodedBlock } from "./blocks/encode-block.ts";
export { isCodecError } from "../bytes/codec-error.ts";
export type { CodecError } from "../bytes/codec-error.ts";
export { countValues, stepRange } from "./columns/block-columns.ts";
export type { BlockColumns } from "./columns/block-columns.ts";
export { createColumnsBuilder } from "./columns/columns-builder.ts";
export type { ColumnsBuilder, ColumnsBuilderOptions } from "./columns/columns-builder.ts";
export { concatColumns, sliceKeys } from "./columns/concat-and-slice.ts";
export { compareKeyBytes } from "./columns/keys.ts";
export { columnsFromParts } from "./columns/metric-columns.ts";
export type { MetricColumns, MetricColumnsParts } from "./columns/metric-columns.ts";
export type { Effort } from "./numbers/numbers.ts";
export { meanOf } from "./numbers/exact-sum.ts";
export { createScratchBuffer } from "./numbers/scratch-buffer.ts";
export type { NumberBuffer, ScratchBuffer } from "./numbers/scratch-buffer.ts";
export { createBucketSampler } from "./sampling/bucket-sampler.ts";
export type { BucketColumns, BucketSampler, SummedChunk } from "./sampling/bucket-sampler.ts";
export { gridOf, leftEdge, bucketIndex } from "./sampling/grid.ts";
export type { Grid } from "./sampling/grid.ts";
export { bucketOf, createM4Sampler } from "./sampling/m4.ts";
export type { M4Sampler } from "./sampling/m4.ts";
export { blockColumnsOfSegment, decodeSegment } from "./segments/decode-segment.ts";
export type { SegmentColumns } from "./segments/decode-segment.ts";
export { decodeSegmentKey } from "./segments/decode-segment-key.ts";
export type { MetricSeries } from "./segments/decode-segment-key.ts";
export { encodeSegment } from "./segments/encode-segment.ts";
export { smooth, SMOOTHING_KINDS } from "./smoothing/smooth.ts";
export type { Smoothing } from "./smoothing/smooth.ts";
export {
  AGGREGATE_NUMBERS,
  AGGREGATES_PER_PAGE,
  CHUNK_STATISTICS_BYTES,
  CHUNK_SUM_BYTES,
  DIRECTORY_ENTRY_BYTES,
  KEY_RANGE_WIDTHS,
  NUMBERS_PER_AGGREGATE,
  STATISTICS_WIDTH_MAX,
} from "./storage-layout.ts";
