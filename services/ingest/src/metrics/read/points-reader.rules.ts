import { decodeSegment } from "@tidemark/metric-codec";
import { createFirstPoints, type FirstPoints, type Points } from "./first-points.rules.ts";
import {
  decodeChunk,
  type BlockPart,
  type LandingSegment,
  type PointRow,
  type StepRange,
} from "./metric-rows.rules.ts";
import { pointsToRead } from "./series-budget.rules.ts";

/** Points of one key. */
export type KeyPoints = { readonly key: string; readonly points: Points };

/** Makes the first points of a run, over all its keys, out of the rows of a read. */
export type PointsReader = {
  /** Takes the next row and keeps no reference to it; keys arrive in the order of their bytes. @throws CodecError for a damaged row */
  readonly add: (row: PointRow) => void;
  /** Call it when the keys so far are read completely: rows that are added later count only for later keys. */
  nextKeys(): void;
  /** Returns how many points there are of the keys so far, at most one more than the limit for each. */
  count(): number;
  /** Returns the first points by key, step and arrival, whether there are more, and the version of the run. Keys without points are left out. */
  take(): { readonly keys: readonly KeyPoints[]; readonly truncated: boolean; readonly version: number };
};

type Collected = { readonly key: string; readonly first: FirstPoints };

/** Bytes that name a key of a block and the length of its section. */
const ENTRY_BYTES = 8;

/** Reads up to `limit` points within the range. Its memory is bounded by twice the limit for each key that is read, and one row. */
export function createPointsReader(limit: number, range: StepRange): PointsReader {
  /** All keys, and the keys that are being read by id and by text. */
  const collected: Collected[] = [];
  const byId = new Map<number, Collected>();
  const byText = new Map<string, Collected>();
  let version = 0;

  const addPart = ({ steps, times, keys, sections }: BlockPart): void => {
    const entries = new DataView(keys.buffer, keys.byteOffset, keys.length);
    let from = 0;
    for (let at = 0; at < keys.length; at += ENTRY_BYTES) {
      const to = from + entries.getUint32(at + 4);
      byId.get(entries.getUint32(at))!.first.add(decodeChunk({ steps, times, section: sections.subarray(from, to) }));
      from = to;
    }
  };

  const addSegment = ({ bytes, receivedUs }: LandingSegment): void => {
    const { keys, keyIds, steps, timestampsUs, values, offsets, pointIndexes } = decodeSegment(bytes);
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
    add(row) {
      if (row.kind === "run") version = row.version;
      else if (row.kind === "key") {
        const found = { key: row.key, first: createFirstPoints(pointsToRead(limit), range) };
        collected.push(found);
        byId.set(row.keyId, found);
        byText.set(row.key, found);
      } else if (row.kind === "chunk") byId.get(row.keyId)!.first.add(decodeChunk(row.chunk));
      else if (row.kind === "block") addPart(row.part);
      else addSegment(row.segment);
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

/** Returns the numbers of a column at some of the points. */
function pick(column: Float64Array, pointIndexes: Uint32Array, from: number, to: number): Float64Array {
  const picked = new Float64Array(to - from);
  for (let i = from; i < to; i++) picked[i - from] = column[pointIndexes[i]!]!;
  return picked;
}
