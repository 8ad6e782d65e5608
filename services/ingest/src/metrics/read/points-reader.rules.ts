import { createFirstPoints, type FirstPoints, type Points } from "./first-points.rules.ts";
import { createBlockOpener, type BlockPart, type PointRow, type StepRange } from "./metric-rows.rules.ts";
import { createWantedKeys } from "./segment-keys.rules.ts";
import { pointsToRead } from "./series-budget.rules.ts";

/** Points of one key. */
export type KeyPoints = { readonly key: string; readonly points: Points };

/** Builds the first points of a run, over all its keys, from the rows of a read. */
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

/** Bytes that name a key of a block and the length of its section. */
const ENTRY_BYTES = 8;

/** Reads up to `limit` points within the range. Its memory is bounded by twice the limit for each key that is read, and one row. */
export function createPointsReader(limit: number, range: StepRange): PointsReader {
  /** All keys, and the keys that are being read. */
  const collected: { readonly key: string; readonly first: FirstPoints }[] = [];
  let wanted = createWantedKeys();
  const openBlock = createBlockOpener();
  let version = 0;

  const addPart = ({ steps, times, keys, sections }: BlockPart): void => {
    const readChunk = openBlock({ steps, times });
    const entries = new DataView(keys.buffer, keys.byteOffset, keys.length);
    let from = 0;
    for (let at = 0; at < keys.length; at += ENTRY_BYTES) {
      const to = from + entries.getUint32(at + 4);
      wanted.byId(entries.getUint32(at))!(readChunk(sections.subarray(from, to)));
      from = to;
    }
  };

  return {
    add(row) {
      if (row.kind === "run") version = row.version;
      else if (row.kind === "key") {
        const first = createFirstPoints(pointsToRead(limit), range);
        collected.push({ key: row.key, first });
        wanted.add({ keyId: row.keyId, take: first.add });
      } else if (row.kind === "chunk") wanted.byId(row.keyId)!(openBlock(row.axis)(row.section));
      else if (row.kind === "block") addPart(row.part);
      else wanted.takeSegment(row.segment);
    },
    nextKeys() {
      wanted = createWantedKeys();
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
