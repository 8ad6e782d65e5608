import {
  createScratchBuffer,
  openBlock,
  type BlockAxis,
  type BlockKeyReader,
  type ScratchBuffer,
  decodeSegment,
  decodeSegmentKey,
} from "@tidemark/codecs/metrics";

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

/** Takes points of a series, which arrived after all points taken before. */
export type SeriesTaker = (series: StoredSeries) => void;

/** The facts of a key's points that are known without reading them. */
export type KeyFacts = {
  readonly keyId: number;
  readonly count: number;
  readonly firstStep: number;
  readonly lastStep: number;
};

/** A landing segment: one accepted request, with points of any keys. A segment that says when each point was received takes precedence. */
type LandingSegment = { readonly receivedUs: number; readonly bytes: Uint8Array };

/**
 * A row of a read of some keys in several runs. `run` counts the requested runs from 1, `place` the requested keys from 0. Runs are in this order,
 * each beginning with its `run` row, and the points of each key are in the order of their arrival.
 */
export type SeriesRow = { readonly run: number } & (
  | {
      readonly kind: "run";
      readonly version: number;
      /** By place, for the keys that the run has in the range of steps. */
      readonly keys: ReadonlyMap<number, KeyFacts>;
    }
  /** The chunk statistics that stand for a chunk. */
  | { readonly kind: "statistics"; readonly place: number; readonly statistics: Uint8Array }
  /** The points of a key in a block, encoded: its section, and before the first section of a block its steps and, unless only samples are wanted, times. */
  | { readonly kind: "chunk"; readonly place: number; readonly axis: BlockAxis | null; readonly section: Uint8Array }
  | { readonly kind: "segment"; readonly segment: LandingSegment }
);

/** The encoded points of several keys in a block. */
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
  | { readonly kind: "chunk"; readonly keyId: number; readonly axis: BlockAxis; readonly section: Uint8Array }
  | { readonly kind: "block"; readonly part: BlockPart }
  | { readonly kind: "segment"; readonly segment: LandingSegment };

/** One for the process: chunks are decoded and taken one after another, and allocating memory for each would take longer than filling it. */
const scratch = createScratchBuffer();

/** Opens a block and closes the previous one. Each chunk that is read overwrites the previous one: use that one first. */
type BlockOpener = (axis: BlockAxis) => (section: Uint8Array) => ReturnType<BlockKeyReader>;

/** Creates an opener of blocks for one read. It keeps no reference to the rows of the read. */
export function createBlockOpener(): BlockOpener {
  let memory: ScratchBuffer | undefined;
  return ({ steps, times }) => {
    memory ??= createScratchBuffer();
    memory.reuse();
    // Sections arrive in later rows, whose bytes overwrite those of this row.
    const own = { steps: new Uint8Array(steps), times: times === null ? null : new Uint8Array(times) };
    const readKey = openBlock(own, memory);
    return (section) => {
      scratch.reuse();
      return readKey(section, scratch);
    };
  };
}

/** A key of a run whose points are wanted. */
type WantedKey = { readonly keyId: number; readonly take: SeriesTaker };

/** Keys of a run whose points are wanted. */
export type WantedKeys = {
  readonly add: (key: WantedKey) => void;
  /** Returns the function that takes the points of a key; undefined when they are not wanted. */
  readonly byId: (keyId: number) => SeriesTaker | undefined;
  /** Passes on the points of these keys in a segment. @throws CodecError for a damaged segment */
  readonly takeSegment: (segment: LandingSegment) => void;
};

/** Up to this many keys are decoded one by one, which is faster than decoding all keys of a segment, which may be thousands. */
const DECODED_SINGLY = 4;

/** Creates an empty collection. */
export function createWantedKeys(): WantedKeys {
  const all: WantedKey[] = [];
  const byId = new Map<number, SeriesTaker>();

  const takeSingly = ({ bytes, receivedUs }: LandingSegment): void => {
    for (const wanted of all) {
      const series = decodeSegmentKey(bytes, wanted.keyId);
      if (series !== null) wanted.take({ ...series, receivedUs: series.receivedUs ?? receivedUs });
    }
  };

  const takeTogether = ({ bytes, receivedUs }: LandingSegment): void => {
    const { keyIds, steps, timestampsUs, values, offsets, pointIndexes, ...segment } = decodeSegment(bytes);
    const dense = offsets.length === 0;
    for (let k = 0; k < keyIds.length; k++) {
      const take = byId.get(keyIds[k]!);
      if (take === undefined) continue;
      const from = dense ? k * steps.length : offsets[k]!;
      const to = dense ? from + steps.length : offsets[k + 1]!;
      const at = (column: Float64Array): Float64Array =>
        dense || column.length === 0 ? column : pick(column, pointIndexes, from, to);
      const received = segment.receivedUs === undefined ? receivedUs : at(segment.receivedUs);
      take({
        steps: at(steps),
        values: values.subarray(from, to),
        receivedUs: received,
        timestampsUs: at(timestampsUs),
      });
    }
  };

  return {
    add(wanted) {
      all.push(wanted);
      byId.set(wanted.keyId, wanted.take);
    },
    byId: (keyId) => byId.get(keyId),
    takeSegment: (segment) => (all.length > DECODED_SINGLY ? takeTogether(segment) : takeSingly(segment)),
  };
}

/** Returns the numbers of a column at some of the points. */
function pick(column: Float64Array, pointIndexes: Uint32Array, from: number, to: number): Float64Array {
  const picked = new Float64Array(to - from);
  for (let i = from; i < to; i++) picked[i - from] = column[pointIndexes[i]!]!;
  return picked;
}
