import { badRequest } from "@tidemark/errors";
import { METRIC_KEYS_MAX, WORLD_SIZE_MAX } from "@tidemark/limits";
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { VALUE_BYTES, writeGap, writeValue } from "./rank-values.rules.ts";

/** The data that one rank reported at one step, in addition to its metrics. */
export type RankReport = {
  /** Finite, from 0. */
  readonly step: number;
  /** 0 up to `worldSize`, which is 1 to 512. */
  readonly rank: number;
  readonly worldSize: number;
  /** The rank among the ranks of one machine, below `worldSize`. */
  readonly localRank: number;
  /** Finite, above 0. */
  readonly weight: number;
  /** The client's time in microseconds since the Unix epoch, null when the client sent none. */
  readonly timestampUs: number | null;
};

/** @throws bad_request for numbers out of their bounds */
export function checkRankReport(report: RankReport): void {
  const { step, rank, worldSize, localRank, weight } = report;
  if (!(Number.isFinite(step) && step >= 0)) throw badRequest("step must be a finite number of at least 0", "step");
  if (!(worldSize >= 1 && worldSize <= WORLD_SIZE_MAX)) {
    throw badRequest(`world_size must be from 1 to ${WORLD_SIZE_MAX}`, "world_size");
  }
  if (rank >= worldSize) throw badRequest("rank must be below world_size", "rank");
  if (localRank >= worldSize) throw badRequest("local_rank must be below world_size", "local_rank");
  if (!(Number.isFinite(weight) && weight > 0)) throw badRequest("weight must be a finite number above 0", "weight");
}

/** @throws bad_request for keys and values that do not fit together, are too many or not distinct */
export function checkRankValues(keys: readonly string[], values: readonly number[]): void {
  if (keys.length < 1 || keys.length > METRIC_KEYS_MAX) {
    throw badRequest(`metrics must have 1 to ${METRIC_KEYS_MAX} keys`, "metrics");
  }
  if (values.length !== keys.length) throw badRequest("metrics must have a value for each key", "metrics");
  if (new Set(keys).size < keys.length) throw badRequest("metrics must have distinct keys", "metrics");
}

/** Where the keys of a request are stored: the rows of the request, each with the keys that it holds. */
export type RankLayout = readonly RankLayoutRow[];

/** One row of a layout. */
type RankLayoutRow = {
  readonly setId: number;
  /** Whether the row may have values for only some of the keys of its set. */
  readonly isPage: boolean;
  /** The slot in the set of each of the row's keys, and the index of the key in the request: arrays of one length. */
  readonly slots: Uint8Array;
  readonly keyIndexes: Uint16Array;
};

/** Where one key of a request is stored. */
export type KeySlot = { readonly setId: number; readonly slot: number; readonly isPage: boolean };

/** A row to store: the values of its keys from `firstSlot` on, as doubles in network order. */
type PackedRow = {
  readonly setId: number;
  readonly isPage: boolean;
  readonly firstSlot: number;
  readonly packed: Uint8Array;
};

/** Returns the layout of a request whose keys have these slots, in the order of the keys. */
export function layoutOf(keySlots: readonly KeySlot[]): RankLayout {
  const rows = new Map<number, { isPage: boolean; slots: number[]; keyIndexes: number[] }>();
  keySlots.forEach(({ setId, slot, isPage }, keyIndex) => {
    let row = rows.get(setId);
    if (row === undefined) rows.set(setId, (row = { isPage, slots: [], keyIndexes: [] }));
    row.slots.push(slot);
    row.keyIndexes.push(keyIndex);
  });
  // By set, so that two requests lock the rows that they share in one order.
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([setId, { isPage, slots, keyIndexes }]) => ({
      setId,
      isPage,
      slots: Uint8Array.from(slots),
      keyIndexes: Uint16Array.from(keyIndexes),
    }));
}

/** Returns about how many bytes a layout takes in memory. */
function layoutBytes(layout: RankLayout): number {
  return layout.reduce((sum, { slots }) => sum + 200 + 3 * slots.length, 0);
}

/** Returns the rows of a request, from its values in the order of its keys, with gaps where a row of a page has no value. */
export function packRows(layout: RankLayout, values: readonly number[]): PackedRow[] {
  return layout.map(({ setId, isPage, slots, keyIndexes }) => {
    const firstSlot = slots.reduce((least, slot) => Math.min(least, slot));
    const lastSlot = slots.reduce((most, slot) => Math.max(most, slot));
    const packed = new Uint8Array((lastSlot - firstSlot + 1) * VALUE_BYTES);
    const view = new DataView(packed.buffer);
    for (let slot = firstSlot; slot <= lastSlot; slot++) {
      writeGap(view, (slot - firstSlot) * VALUE_BYTES);
    }
    slots.forEach((slot, i) => writeValue(view, (slot - firstSlot) * VALUE_BYTES, values[keyIndexes[i]!]!));
    return { setId, isPage, firstSlot, packed };
  });
}

/** Remembers where the keys of requests are stored. The slot of a key never changes, so a layout stays valid once found. */
export type RankLayouts = {
  get(name: string): RankLayout | undefined;
  /**
   * Runs work that finds a layout, and remembers the layout. All ranks of a training begin simultaneously with the same keys: for one layout one
   * work runs at a time; callers that arrive meanwhile wait for its end and get undefined, to look again.
   */
  find<T extends { readonly layout: RankLayout | null }>(name: string, work: () => Promise<T>): Promise<T | undefined>;
};

const BYTES_MAX = 16 * 1024 * 1024;

/** Creates a memory of at most 16 MiB for the most recently used layouts. */
export function createRankLayouts(): RankLayouts {
  const layouts = new LRUCache<string, RankLayout>({
    maxSize: BYTES_MAX,
    sizeCalculation: (layout, name) => layoutBytes(layout) + name.length,
  });
  const searches = new Map<string, Promise<unknown>>();
  return {
    get: (name) => layouts.get(name),
    async find(name, work) {
      const before = searches.get(name);
      if (before !== undefined) {
        // The search that failed reports its error itself.
        await before.catch(() => {});
        return undefined;
      }
      const search = work();
      searches.set(name, search);
      try {
        const found = await search;
        if (found.layout !== null) layouts.set(name, found.layout);
        return found;
      } finally {
        searches.delete(name);
      }
    },
  };
}

/** Returns a name that distinguishes one layout from all others, from organization, run, world size and the keys in their order. */
export function layoutName(orgId: string, runId: string, worldSize: number, keys: readonly string[]): string {
  return hash("sha256", JSON.stringify([orgId, runId, worldSize, keys]), "base64");
}
