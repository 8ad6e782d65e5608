import { decodeSegment } from "@tidemark/metric-codec";
import { decodeChunk } from "./decode-chunk.ts";
import { createFirstPoints, type FirstPoints, type Points } from "./first-points.ts";
import type { LandedRequest, PointSegment, Stripe } from "./metric-segments.ts";
import type { StepRange } from "./stored-series.ts";

/** Points of one key. */
export type KeyPoints = { readonly key: string; readonly points: Points };

/** Makes the first points of a run, over all its keys, of what is stored. */
export type PointsReader = {
  /** Takes the next segment, of which nothing is kept; keys come in the order of their bytes. @throws CodecError when it is damaged */
  readonly add: (segment: PointSegment) => void;
  /** To be called when all is read of the keys so far: what is added then has points of later keys only, and theirs alone are taken of it. */
  nextKeys(): void;
  /** How many points there are of the keys so far, of each at most one more than the limit. */
  count(): number;
  /** The first points by key, step and arrival, whether there are more, and the version that they are of. Keys without any are left out. */
  take(): { readonly keys: readonly KeyPoints[]; readonly truncated: boolean; readonly version: number };
};

type Collected = { readonly key: string; readonly first: FirstPoints };

/** Bytes that name a key of a stripe and the length of its section. */
const ENTRY_BYTES = 8;

/** Reads up to `limit` points within the range. Memory is bounded by the points of the keys that are read, twice the limit for each, and a segment. */
export function createPointsReader(limit: number, range: StepRange): PointsReader {
  /** All keys, and of those that are being read where to find them. */
  const collected: Collected[] = [];
  const byId = new Map<number, Collected>();
  const byText = new Map<string, Collected>();
  let version = 0;

  const addStripe = ({ steps, times, keys, sections }: Stripe): void => {
    const entries = new DataView(keys.buffer, keys.byteOffset, keys.length);
    let from = 0;
    for (let at = 0; at < keys.length; at += ENTRY_BYTES) {
      const to = from + entries.getUint32(at + 4);
      byId.get(entries.getUint32(at))!.first.add(decodeChunk({ steps, times, section: sections.subarray(from, to) }));
      from = to;
    }
  };

  const addLanded = ({ block, receivedUs }: LandedRequest): void => {
    const { keys, keyIds, steps, timestampsUs, values, offsets, pointIndexes } = decodeSegment(block);
    const dense = offsets.length === 0;
    const count = keys?.length ?? keyIds!.length;
    for (let k = 0; k < count; k++) {
      const wanted = keys === null ? byId.get(keyIds[k]!) : byText.get(keys[k]!);
      if (wanted === undefined) continue;
      const from = dense ? k * steps.length : offsets[k]!;
      const to = dense ? from + steps.length : offsets[k + 1]!;
      const at = (column: Float64Array): Float64Array =>
        dense || column.length === 0 ? column : pick(column, pointIndexes, from, to);
      wanted.first.add({
        steps: at(steps),
        values: values.subarray(from, to),
        receivedUs,
        timestampsUs: at(timestampsUs),
      });
    }
  };

  return {
    add(segment) {
      if (segment.kind === "run") version = segment.version;
      else if (segment.kind === "key") {
        const found = { key: segment.key, first: createFirstPoints(limit + 1, range) };
        collected.push(found);
        byId.set(segment.keyId, found);
        byText.set(segment.key, found);
      } else if (segment.kind === "chunk") byId.get(segment.keyId)!.first.add(decodeChunk(segment.chunk));
      else if (segment.kind === "block") addStripe(segment.stripe);
      else addLanded(segment.landed);
    },
    nextKeys() {
      byId.clear();
      byText.clear();
    },
    count: () => collected.reduce((sum, { first }) => sum + first.count(), 0),
    take() {
      const keys: KeyPoints[] = [];
      let left = limit;
      for (const { key, first } of collected) {
        const count = first.count();
        if (count > 0 && left > 0) keys.push({ key, points: first.take(left) });
        if (count > left) return { keys, truncated: true, version };
        left -= count;
      }
      return { keys, truncated: false, version };
    },
  };
}

/** The numbers of a column at some of the points. */
function pick(column: Float64Array, pointIndexes: Uint32Array, from: number, to: number): Float64Array {
  const picked = new Float64Array(to - from);
  for (let i = from; i < to; i++) picked[i - from] = column[pointIndexes[i]!]!;
  return picked;
}
