import { createScratchBuffer, decodeBlockKey, type BlockKeyParts, type BlockSeries } from "@tidemark/metric-codec";

/** Inclusive bounds of steps; absent: none. */
export type StepRange = { readonly startStep: number | undefined; readonly endStep: number | undefined };

/** Points of one key in the order of their arrival, decoded. */
export type StoredSeries = {
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** When the server received each point, or all of them, in microseconds since the Unix epoch. */
  readonly receivedUs: Float64Array | number;
  /** The client's times in the same unit, NaN where the client sent none; empty when no point has one. */
  readonly timestampsUs: Float64Array;
};

/** Takes points of a series, which arrived after all those that it took before. */
export type SeriesTaker = (series: StoredSeries) => void;

/** What is known of the points of a key without reading them. */
export type KeyFacts = {
  readonly keyId: number;
  readonly count: number;
  readonly firstStep: number;
  readonly lastStep: number;
};

/** The points of one key in a block, encoded. They have no times where only a sample is wanted. */
export type Chunk = BlockKeyParts;

/** A landing segment: one accepted request, with points of any keys. */
export type LandingSegment = { readonly receivedUs: number; readonly bytes: Uint8Array };

/**
 * A row of a read of one key in several runs. `run` counts the requested runs from 1. Runs are in this order, each beginning with its `run` row,
 * and the points of each run are in the order of their arrival.
 */
export type SeriesRow = { readonly run: number } & (
  | { readonly kind: "run"; readonly version: number; readonly key: KeyFacts | null }
  /** The chunk statistics that stand for a chunk. */
  | { readonly kind: "statistics"; readonly statistics: Uint8Array }
  | { readonly kind: "chunk"; readonly chunk: Chunk }
  | { readonly kind: "segment"; readonly segment: LandingSegment }
);

/** The points of several keys in a block, encoded. */
export type BlockPart = {
  /** The block's steps and times, as a chunk has them. */
  readonly steps: Uint8Array;
  readonly times: Uint8Array;
  /** For each key its id and the length of its section in bytes: four bytes each, in network order. */
  readonly keys: Uint8Array;
  /** The sections, one after another. */
  readonly sections: Uint8Array;
};

/** A row of a read of several keys of a run: the version of the run first, then the keys, then the points of each key in the order of arrival. */
export type PointRow =
  | { readonly kind: "run"; readonly version: number }
  | { readonly kind: "key"; readonly key: string; readonly keyId: number }
  | { readonly kind: "chunk"; readonly keyId: number; readonly chunk: Chunk }
  | { readonly kind: "block"; readonly part: BlockPart }
  | { readonly kind: "segment"; readonly segment: LandingSegment };

/** One for the process: chunks are decoded and taken one after another, and to allocate memory for each would take longer than to fill it. */
const scratch = createScratchBuffer();

/** Decodes the points of a chunk into memory that the next call overwrites: take them before. @throws CodecError for a damaged chunk */
export function decodeChunk(chunk: Chunk): BlockSeries {
  return decodeBlockKey(chunk, scratch);
}
