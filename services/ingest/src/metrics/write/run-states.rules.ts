import type { AggregateNumbers } from "@tidemark/codecs/metrics";
import { LRUCache } from "lru-cache";

/** The state of a run's metrics that the process knows. Only the group that writes the run changes it. */
export type RunState = {
  readonly runId: string;
  /** The project that the run had at this version; undefined for a run that has no metrics yet. A move makes another version. */
  readonly projectId?: string;
  version: number;
  keyCount: number;
  pointCount: number;
  /** When the run was last noted as unindexed: minutes since the Unix epoch, by the database's clock; 0 when that is not known. */
  notedMinute: number;
};

/**
 * The runs that are being written, as many as fit in memory; the least recently used is forgotten first. Aggregate pages and key ids belong
 * to the state that they were set with: they are unknown to another state, which a run gets after it was forgotten.
 */
export type RunStates = {
  get(runId: string): RunState | undefined;
  set(state: RunState): void;
  /** Forgets everything about a run. */
  forget(runId: string): void;
  page(state: RunState, page: number): AggregateNumbers | undefined;
  setPage(state: RunState, page: number, numbers: AggregateNumbers): void;
  /** Returns the ids of a set of keys that the run has, in the order of the keys. */
  keyIds(state: RunState, keySet: string): Uint32Array | undefined;
  setKeyIds(state: RunState, keySet: string, ids: Uint32Array): void;
};

type Part<Numbers> = { readonly state: RunState; readonly numbers: Numbers };
type Entry = RunState | Part<Uint32Array>;

/** The bytes that an entry takes in addition to its numbers: the object, its key, and its slots in the cache. */
const ENTRY_BYTES = 320;
/** The share of the memory that pages leave to states and ids: ids are smaller than pages, and looking them up costs more than reading a page. */
const IDS_SHARE = 0.25;

/** Creates an empty memory of about `bytesMax` bytes. */
export function createRunStates(bytesMax: number): RunStates {
  const states = new LRUCache<string, Entry>({
    maxSize: Math.ceil(bytesMax * IDS_SHARE),
    sizeCalculation: (entry) => ENTRY_BYTES + ("numbers" in entry ? entry.numbers.byteLength : 0),
  });
  const pages = new LRUCache<string, Part<AggregateNumbers>>({
    maxSize: Math.ceil(bytesMax * (1 - IDS_SHARE)),
    sizeCalculation: ({ numbers: { numbers, nonFinite } }) =>
      ENTRY_BYTES + numbers.byteLength + (nonFinite?.byteLength ?? 0),
  });
  const partOf = <Numbers>(part: Part<Numbers> | undefined, state: RunState): Numbers | undefined =>
    part?.state === state ? part.numbers : undefined;
  return {
    get: (runId) => states.get(runId) as RunState | undefined,
    set: (state) => void states.set(state.runId, state),
    forget: (runId) => void states.delete(runId),
    page: (state, page) => partOf(pages.get(pageKey(state, page)), state),
    setPage: (state, page, numbers) => void pages.set(pageKey(state, page), { state, numbers }),
    keyIds: (state, keySet) => partOf(states.get(keySetKey(state, keySet)) as Part<Uint32Array> | undefined, state),
    setKeyIds: (state, keySet, numbers) => void states.set(keySetKey(state, keySet), { state, numbers }),
  };
}

const pageKey = ({ runId }: RunState, page: number): string => `${runId}#${page}`;
const keySetKey = ({ runId }: RunState, keySet: string): string => `${runId}/${keySet}`;
