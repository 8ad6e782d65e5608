export {
  aggregateNumbersOf,
  aggregatePageOf,
  aggregateStartOf,
  mergeAggregate,
  mergeNonFinite,
  nonFiniteStartOf,
  readAggregate,
} from "./aggregates/aggregate-page.ts";
export type { AggregateNumbers } from "./aggregates/aggregate-page.ts";
export { aggregatesOfColumns, bestOf, populationVariance } from "./aggregates/key-aggregates.ts";
export type { KeyAggregate } from "./aggregates/key-aggregates.ts";
export { readChunkStatistics, chunkSumsOf, readSummedChunk } from "./blocks/chunk-statistics.ts";
export type { ChunkStatistics, SummedChunk } from "./blocks/chunk-statistics.ts";
export { decodeBlock, openBlock } from "./blocks/decode-block.ts";
export type { BlockAxis, BlockKeyReader } from "./blocks/decode-block.ts";
export { encodeBlock } from "./blocks/encode-block.ts";
export type { EncodeBlockOptions, EncodedBlock } from "./blocks/encode-block.ts";
export { isCodecError } from "../bytes.ts";
export type { CodecError } from "../bytes.ts";
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
export { areFinite, finitePoints } from "./numbers/finite.ts";
export { createScratchBuffer } from "./numbers/bytes.ts";
export type { NumberBuffer, ScratchBuffer } from "./numbers/bytes.ts";
export { createBucketSampler, gridOf, leftEdge, bucketIndex } from "./sampling/bucket-sampler.ts";
export type { BucketColumns, BucketSampler, Grid } from "./sampling/bucket-sampler.ts";
export { bucketOf, createM4Sampler } from "./sampling/m4.ts";
export type { M4Sampler } from "./sampling/m4.ts";
export { blockColumnsOfSegment, decodeSegment, decodeSegmentKey } from "./segments/decode-segment.ts";
export type { SegmentColumns, MetricSeries } from "./segments/decode-segment.ts";
export { encodeSegment } from "./segments/encode-segment.ts";
export { smooth, SMOOTHING_KINDS } from "./smooth.ts";
export type { Smoothing } from "./smooth.ts";
export {
  AGGREGATE_NUMBERS,
  AGGREGATES_PER_PAGE,
  CHUNK_STATISTICS_BYTES,
  CHUNK_SUM_BYTES,
  DIRECTORY_ENTRY_BYTES,
  KEY_RANGE_WIDTHS,
  NON_FINITE_NUMBERS,
  NUMBERS_PER_AGGREGATE,
  NUMBERS_PER_NON_FINITE,
  STATISTICS_WIDTH_MAX,
} from "./storage-layout.ts";
