import {
  aggregateNumbersOf,
  aggregatePageOf,
  encodeSegment,
  AGGREGATES_PER_PAGE,
  isMinimizeKey,
  stepRange,
} from "@tidemark/metric-codec";
import type { Tx } from "@tidemark/pg";
import type { DirtyMarkers } from "../../compaction/dirty-markers.ts";
import { loadMetricRuns, type GroupRun, type GroupWrite } from "./metric-group.sql.ts";
import { markerSecondsOf, type PendingWrite } from "./pending-write.ts";
import { draftRun, type FinishedDraft } from "./run-draft.rules.ts";
import type { RunState, RunStates } from "./run-states.ts";
import { sortChangesOf, type SortChange, type WrittenSortKey } from "./sort-changes.rules.ts";
import type { SortKeyMemory, SortKeys } from "./sort-keys.ts";

/** A run of a group, with the state that its writes need. */
type GroupedRun = {
  readonly runId: string;
  readonly projectId: string;
  readonly writes: readonly PendingWrite[];
  state: RunState | undefined;
  /** The ids of the keys of each key set, -1 for keys that the run does not have. */
  readonly ids: Map<string, ArrayLike<number>>;
  readonly pages: Map<number, Float64Array>;
};

/** A group that is ready to be stored. */
export type GroupDraft = {
  readonly runs: readonly GroupRun[];
  /** The version of the sort keys that it was made for. */
  readonly sortKeysVersion: number;
  /** Keeps the new state of the group's runs in memory. Call it once the group was stored, with the minute of its note. */
  readonly keep: (notedMinute: number) => void;
};

/** What drafts are made with. */
export type DraftDeps = {
  readonly states: RunStates;
  readonly sortKeys: SortKeyMemory;
  readonly markers: DirtyMarkers;
};

/** The first load may show which pages a second one must load; twice as many loads for a run that changes in between. */
const LOADS_MAX = 4;

/**
 * Makes the statement of a group: numbers the keys, merges the aggregates, and encodes the landing segments. Loads through `tx` what is not in memory.
 * Returns undefined when a run changes faster than it is loaded.
 */
export async function planGroup(
  tx: Tx,
  writes: readonly PendingWrite[],
  deps: DraftDeps,
): Promise<GroupDraft | undefined> {
  const orgId = writes[0]!.orgId;
  const groups = runsOf(writes, deps.states);
  for (let loads = 0; await loadMissing(tx, orgId, groups, deps.states); loads++) {
    if (loads === LOADS_MAX) return undefined;
  }
  const sortKeys = deps.sortKeys.of(orgId);
  const drafts = groups.map((group) => draftOf(group, sortKeys, deps));
  return {
    runs: drafts.map(({ run }) => run),
    sortKeysVersion: sortKeys.version,
    keep: (notedMinute) => {
      for (const { group, run, keySets, finished } of drafts) {
        const state = group.state!;
        state.version = run.version + run.writes.length;
        state.keyCount = run.keyCount;
        state.pointCount = run.pointCount;
        state.notedMinute = notedMinute;
        deps.states.keep(state);
        for (const [page, numbers] of finished.pages) deps.states.keepPage(state, page, numbers);
        for (const [keySet, ids] of keySets) {
          if (ids !== group.ids.get(keySet)) deps.states.keepKeyIds(state, keySet, ids);
        }
      }
    },
  };
}

function runsOf(writes: readonly PendingWrite[], states: RunStates): GroupedRun[] {
  const byRun = new Map<string, PendingWrite[]>();
  for (const write of writes) {
    const own = byRun.get(write.runId);
    if (own === undefined) byRun.set(write.runId, [write]);
    else own.push(write);
  }
  return [...byRun.keys()].sort().map((runId) => {
    const own = byRun.get(runId)!;
    return {
      runId,
      projectId: own[0]!.projectId,
      writes: own,
      state: states.get(runId),
      ids: new Map(),
      pages: new Map(),
    };
  });
}

type Missing = {
  readonly group: GroupedRun;
  readonly keySets: Map<string, readonly string[]>;
  readonly pages: Set<number>;
};

/** Returns the state of a run that is neither in the group nor in memory, and copies state in memory to the group. */
function missingOf(group: GroupedRun, states: RunStates): Missing {
  const keySets = new Map<string, readonly string[]>();
  const pages = new Set<number>();
  const { state } = group;
  const need = (page: number): void => {
    if (group.pages.has(page)) return;
    const known = state === undefined ? undefined : states.page(state, page);
    if (known === undefined) pages.add(page);
    else group.pages.set(page, known);
  };
  for (const { keySet, columns } of group.writes) {
    const ids = group.ids.get(keySet) ?? (state === undefined ? undefined : states.keyIds(state, keySet));
    if (ids === undefined) {
      keySets.set(keySet, columns.keys);
      continue;
    }
    group.ids.set(keySet, ids);
    let last = -1;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      // New keys follow the last key of the run, and first fill up the last page.
      const page = aggregatePageOf(id >= 0 ? id : state!.keyCount);
      if (page === last || page * AGGREGATES_PER_PAGE >= state!.keyCount) continue;
      last = page;
      need(page);
    }
  }
  return { group, keySets, pages };
}

/** Loads what is missing. Returns false when nothing was missing. */
async function loadMissing(tx: Tx, orgId: string, groups: readonly GroupedRun[], states: RunStates): Promise<boolean> {
  const missing = groups
    .map((group) => missingOf(group, states))
    .filter(({ group, keySets, pages }) => group.state === undefined || keySets.size > 0 || pages.size > 0);
  if (missing.length === 0) return false;
  const loaded = await loadMetricRuns(tx, {
    orgId,
    runIds: missing.map(({ group }) => group.runId),
    // Most pages of a known run are in memory. The missing ones are known once the ids are.
    withPages: missing.map(({ group }) => group.state === undefined),
    keys: missing.flatMap(({ keySets }, run) => [...keySets.values()].flat().map((key) => ({ run, key }))),
    pages: missing.flatMap(({ pages }, run) => Array.from(pages, (page) => ({ run, page }))),
  });
  missing.forEach(({ group }, i) => {
    const stored = loaded.runs[i]!;
    const known = group.state ?? states.get(group.runId);
    if (known?.version === stored.version) group.state = known;
    else {
      group.state = { runId: group.runId, ...stored, notedMinute: 0 };
      group.ids.clear();
      group.pages.clear();
    }
    states.keep(group.state);
  });
  let at = 0;
  for (const { group, keySets } of missing) {
    for (const [keySet, keys] of keySets) {
      group.ids.set(keySet, loaded.keyIds.subarray(at, at + keys.length));
      at += keys.length;
    }
  }
  for (const { run, page, numbers } of loaded.pages) {
    const { group } = missing[run]!;
    group.pages.set(page, numbers);
    states.keepPage(group.state!, page, numbers);
  }
  return true;
}

type RunDrafted = {
  readonly group: GroupedRun;
  readonly run: GroupRun;
  readonly keySets: ReadonlyMap<string, Uint32Array>;
  readonly finished: FinishedDraft;
};

function draftOf(group: GroupedRun, sortKeys: SortKeys, deps: DraftDeps): RunDrafted {
  const { version, keyCount, pointCount, notedMinute } = group.state!;
  const draft = draftRun({ keyCount, pointCount, page: (page) => group.pages.get(page)! });
  const keySets = new Map<string, Uint32Array>();
  const writes = group.writes.map((write): GroupWrite => {
    const { columns, keySet, idempotency } = write;
    let ids = keySets.get(keySet);
    if (ids === undefined) {
      const found = group.ids.get(keySet)!;
      // Ids in memory are complete; loaded ones may lack some.
      ids = found instanceof Uint32Array ? found : draft.idsOf(columns.keys, found);
      keySets.set(keySet, ids);
    }
    draft.add(ids, aggregateNumbersOf(columns), columns.values.length);
    return {
      idempotency,
      segment: encodeSegment(columns, ids),
      ...stepRange(columns.steps),
      valueCount: columns.values.length,
      markerSeconds: markerSecondsOf(write, deps.markers),
    };
  });
  const finished = draft.finish();
  const sortChanges = sortChangesIn(group, keySets, finished, sortKeys);
  const newSortKeys = new Set(sortChanges.flatMap(({ isNew, keyId }) => (isNew ? [keyId] : [])));
  const run: GroupRun = {
    runId: group.runId,
    projectId: group.projectId,
    version,
    keyCount: finished.keyCount,
    pointCount: finished.pointCount,
    pointsAdded: finished.pointCount - pointCount,
    notedMinute,
    newKeys: finished.newKeys.flatMap(({ key, keyId }) =>
      newSortKeys.has(keyId) ? [] : [{ key, keyId, minimize: isMinimizeKey(key) }],
    ),
    sortChanges,
    changes: finished.changes,
    writes,
  };
  return { group, run, keySets, finished };
}

function sortChangesIn(
  { writes, state, pages }: GroupedRun,
  keySets: ReadonlyMap<string, Uint32Array>,
  finished: FinishedDraft,
  { keys: sortKeys }: SortKeys,
): SortChange[] {
  if (sortKeys.size === 0) return [];
  const written = new Map<string, WrittenSortKey>();
  for (const { keySet, columns } of writes) {
    const ids = keySets.get(keySet)!;
    for (let i = 0; i < ids.length; i++) {
      const key = columns.keys[i]!;
      const by = sortKeys.get(key);
      if (by !== undefined) written.set(key, { key, keyId: ids[i]!, minimize: isMinimizeKey(key), by });
    }
  }
  return sortChangesOf(written.values(), {
    keyCountBefore: state!.keyCount,
    before: (page) => pages.get(page)!,
    after: (page) => finished.pages.get(page)!,
  });
}
