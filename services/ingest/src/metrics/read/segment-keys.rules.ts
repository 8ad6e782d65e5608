import { decodeSegment, decodeSegmentKey } from "@tidemark/codecs/metrics";
import type { LandingSegment, SeriesTaker } from "./metric-rows.rules.ts";

/** A key of a run whose points are wanted. */
export type WantedKey = { readonly keyId: number; readonly take: SeriesTaker };

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
