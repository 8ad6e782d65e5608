import { aggregateNumbersOf, encodeSegment, stepRange, type AggregateNumbers } from "@tidemark/codecs/metrics";
import { isMinimizeKey } from "@tidemark/values/metric-direction";
import { markerSecondsOf, type PendingWrite } from "./pending-write.rules.ts";
import {
  createRunChange,
  type ChangedRun,
  type PageChange,
  sortChangesOf,
  type SortChange,
  type SortKeys,
  type WrittenSortKey,
} from "./run-change.rules.ts";
import type { RunState } from "./run-states.rules.ts";

/** A run with the writes of a group to it, and what is known of the run that they need. */
export type LoadedRun = {
  readonly runId: string;
  readonly projectId: string;
  /** At least one. */
  readonly writes: readonly PendingWrite[];
  readonly state: RunState;
  /** The ids of the keys of each key set: all of them (Uint32Array), or -1 for keys that the run does not have. */
  readonly keyIds: ReadonlyMap<string, Uint32Array | Int32Array>;
  readonly pages: ReadonlyMap<number, AggregateNumbers>;
};

/** What is to be stored of a group of writes of one organization, and then known. */
export type GroupPlan = {
  /** In the order of their ids. */
  readonly runs: readonly RunPlan[];
  /** The version of the organization's sort keys that `sortChanges` are based on. */
  readonly sortKeysVersion: number;
};

/** What is to be stored of a run. */
export type RunPlan = {
  readonly runId: string;
  readonly projectId: string;
  /** The version that the plan is based on; 0: never written. */
  readonly version: number;
  readonly keyCount: number;
  readonly pointCount: number;
  /** How many of these points the group adds. */
  readonly pointsAdded: number;
  /** The minute of the last note that the run is unindexed, 0 when none is known. A group in a later minute leaves another note. */
  readonly notedMinute: number;
  /** Without the keys in `sortChanges`. */
  readonly newKeys: readonly NewKey[];
  readonly sortChanges: readonly SortChange[];
  readonly pageChanges: readonly PageChange[];
  /** At least one. They get the versions after `version`, one by one. */
  readonly writes: readonly WritePlan[];
  /** What the process knows of the run once the plan is stored, in addition to these counts. */
  readonly known: {
    readonly state: RunState;
    readonly pages: ReadonlyMap<number, AggregateNumbers>;
    /** The ids of the key sets that were not known completely. */
    readonly keyIds: ReadonlyMap<string, Uint32Array>;
  };
};

/** A key that its run does not have yet. */
export type NewKey = { readonly key: string; readonly keyId: number; readonly minimize: boolean };

/** What is to be stored of one accepted request. */
export type WritePlan = {
  readonly request: PendingWrite;
  /** Its landing segment. */
  readonly segment: Uint8Array;
  readonly firstStep: number;
  readonly lastStep: number;
  readonly valueCount: number;
  /** Seconds until a compactor should look at the run; null: this write leaves no dirty marker. */
  readonly markerSeconds: number | null;
};

/**
 * Makes the plan of a group: numbers the keys, merges the aggregates, and encodes the landing segments. Changes nothing that it is given.
 * The markers of the writes are decided.
 */
export function planGroup(runs: readonly LoadedRun[], sortKeys: SortKeys): GroupPlan {
  return { runs: runs.map((run) => planRun(run, sortKeys)), sortKeysVersion: sortKeys.version };
}

function planRun(run: LoadedRun, sortKeys: SortKeys): RunPlan {
  const { version, keyCount, pointCount, notedMinute } = run.state;
  const change = createRunChange({ keyCount, pointCount, page: (page) => run.pages.get(page)! });
  const keyIds = new Map<string, Uint32Array>();
  const idsOf = ({ keySet, columns }: PendingWrite): Uint32Array => {
    let ids = keyIds.get(keySet);
    if (ids === undefined) {
      const found = run.keyIds.get(keySet)!;
      ids = found instanceof Uint32Array ? found : change.idsOf(columns.keys, found);
      keyIds.set(keySet, ids);
    }
    return ids;
  };
  const writes = run.writes.map((request): WritePlan => {
    const { columns } = request;
    const ids = idsOf(request);
    const valueCount = columns.values.length;
    change.add(ids, aggregateNumbersOf(columns), valueCount);
    const segment = encodeSegment(columns, ids);
    return { request, segment, ...stepRange(columns.steps), valueCount, markerSeconds: markerSecondsOf(request) };
  });
  const changed = change.finish();
  const sortChanges = sortChangesIn(run, keyIds, changed, sortKeys);
  const newSortKeys = new Set(sortChanges.flatMap(({ isNew, keyId }) => (isNew ? [keyId] : [])));
  return {
    runId: run.runId,
    projectId: run.projectId,
    version,
    keyCount: changed.keyCount,
    pointCount: changed.pointCount,
    pointsAdded: changed.pointCount - pointCount,
    notedMinute,
    newKeys: changed.newKeys.flatMap(({ key, keyId }) =>
      newSortKeys.has(keyId) ? [] : [{ key, keyId, minimize: isMinimizeKey(key) }],
    ),
    sortChanges,
    pageChanges: changed.pageChanges,
    writes,
    known: {
      state: run.state,
      pages: changed.pages,
      keyIds: new Map([...keyIds].filter(([keySet, ids]) => ids !== run.keyIds.get(keySet))),
    },
  };
}

function sortChangesIn(
  { writes, state, pages }: LoadedRun,
  keyIds: ReadonlyMap<string, Uint32Array>,
  changed: ChangedRun,
  { keys: sortKeys }: SortKeys,
): SortChange[] {
  if (sortKeys.size === 0) return [];
  const written = new Map<string, WrittenSortKey>();
  for (const { keySet, columns } of writes) {
    const ids = keyIds.get(keySet)!;
    for (let i = 0; i < ids.length; i++) {
      const key = columns.keys[i]!;
      const by = sortKeys.get(key);
      if (by !== undefined) written.set(key, { key, keyId: ids[i]!, minimize: isMinimizeKey(key), by });
    }
  }
  return sortChangesOf(written.values(), {
    keyCountBefore: state.keyCount,
    before: (page) => pages.get(page)!,
    after: (page) => changed.pages.get(page)!,
  });
}

/** How many counters of points a project has (the check of ingest.project_points). */
const POINT_SLOTS = 16;

/** Gives each group of writes one of the counters of its projects. */
export type PointSlots = {
  /** Returns a counter, which is reused after fifteen others: more than a process has groups at a time. */
  next(): number;
};

/**
 * Creates the counters of a process. They take turns from a random one on, so that two processes rarely use the same one at a time, and not again
 * and again. It also spreads the old versions of a counter that a long transaction keeps PostgreSQL from removing.
 */
export function createPointSlots(random: () => number): PointSlots {
  let slot = Math.floor(random() * POINT_SLOTS);
  return {
    next: () => {
      slot = (slot + 1) % POINT_SLOTS;
      return slot;
    },
  };
}
