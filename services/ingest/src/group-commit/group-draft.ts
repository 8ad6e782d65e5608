import { encodeLanding, HEADS_PER_PAGE, isMinimiseKey, stepRange } from "@tidemark/metric-codec";
import type { Tx } from "@tidemark/pg";
import { headNumbersOf } from "../domain/head-pages.ts";
import { draftRun, type FinishedDraft } from "../domain/run-draft.ts";
import type { GroupRun, GroupWrite } from "../store/append-metric-group.ts";
import { loadMetricRuns } from "../store/load-metric-runs.ts";
import type { PendingWrite } from "./metric-write.ts";
import type { RunState, RunStates } from "./run-states.ts";

/** A run of a group, with what its writes need to know of it. */
type GroupedRun = {
  readonly runId: string;
  readonly writes: readonly PendingWrite[];
  state: RunState | undefined;
  /** The ids of each key set of the writes, -1 for keys that the run does not have. */
  readonly ids: Map<string, ArrayLike<number>>;
  readonly pages: Map<number, Float64Array>;
};

/** A group that is ready to be stored. */
export type GroupDraft = {
  readonly runs: readonly GroupRun[];
  /** Keeps what the group made of its runs; to be called once it was stored. */
  readonly keep: () => void;
};

/** What drafts are made with. */
export type DraftDeps = {
  readonly states: RunStates;
  /** A clock that never steps back. */
  readonly nowMs: () => number;
  /** Decides once for each write whether it leaves a compaction marker. */
  readonly markerSeconds: (write: PendingWrite) => number | null;
};

/** A note that a run is unsettled holds for at least a minute: so long a process does not look for it, which leaves a write half a minute. */
const NOTE_MS = 30_000;

/** One load of what is missing, two where the pages to load show by the first, and as many again when a run changed in between. */
const LOADS_MAX = 4;

/**
 * Makes the statement of a group: numbers the keys, merges the heads, and encodes the blocks. What of it is not in memory is loaded by `tx`.
 * Undefined when a run changes faster than it is loaded.
 */
export async function draftGroup(
  tx: Tx,
  writes: readonly PendingWrite[],
  deps: DraftDeps,
): Promise<GroupDraft | undefined> {
  const orgId = writes[0]!.orgId;
  const groups = runsOf(writes, deps.states);
  for (let loads = 0; await loadMissing(tx, orgId, groups, deps.states); loads++) {
    if (loads === LOADS_MAX) return undefined;
  }
  const sentAtMs = deps.nowMs();
  const drafts = groups.map((group) => draftOf(group, deps, sentAtMs));
  return {
    runs: drafts.map(({ run }) => run),
    keep: () => {
      for (const { group, run, keySets, finished } of drafts) {
        const state = group.state!;
        state.version = run.version + run.writes.length;
        state.keyCount = run.keyCount;
        state.pointCount = run.pointCount;
        if (!run.noted) state.notedAtMs = sentAtMs;
        deps.states.keep(state);
        for (const [page, stats] of finished.pages) deps.states.keepPage(state, page, stats);
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
  return [...byRun.keys()].sort().map((runId) => ({
    runId,
    writes: byRun.get(runId)!,
    state: states.get(runId),
    ids: new Map(),
    pages: new Map(),
  }));
}

type Missing = {
  readonly group: GroupedRun;
  readonly keySets: Map<string, readonly string[]>;
  readonly pages: Set<number>;
};

/** What of a run is neither in the group nor in memory. */
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
      // New keys go on where the last page of the run ends, which may have to be filled up.
      const page = id >= 0 ? id >>> 5 : state!.keyCount >>> 5;
      if (page === last || page * HEADS_PER_PAGE >= state!.keyCount) continue;
      last = page;
      need(page);
    }
  }
  return { group, keySets, pages };
}

/** Loads what is missing. False when nothing was. */
async function loadMissing(tx: Tx, orgId: string, groups: readonly GroupedRun[], states: RunStates): Promise<boolean> {
  const missing = groups
    .map((group) => missingOf(group, states))
    .filter(({ group, keySets, pages }) => group.state === undefined || keySets.size > 0 || pages.size > 0);
  if (missing.length === 0) return false;
  const loaded = await loadMetricRuns(tx, {
    orgId,
    runIds: missing.map(({ group }) => group.runId),
    // Of a run that is known most pages are in memory: which of them are not shows when the ids are known.
    withPages: missing.map(({ group }) => group.state === undefined),
    keys: missing.flatMap(({ keySets }, run) => [...keySets.values()].flat().map((key) => ({ run, key }))),
    pages: missing.flatMap(({ pages }, run) => Array.from(pages, (page) => ({ run, page }))),
  });
  missing.forEach(({ group }, i) => {
    const stored = loaded.runs[i]!;
    const known = group.state ?? states.get(group.runId);
    if (known?.version === stored.version) group.state = known;
    else {
      group.state = { runId: group.runId, ...stored, notedAtMs: -Infinity };
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
  for (const { run, page, stats } of loaded.pages) {
    const { group } = missing[run]!;
    group.pages.set(page, stats);
    states.keepPage(group.state!, page, stats);
  }
  return true;
}

type RunDrafted = {
  readonly group: GroupedRun;
  readonly run: GroupRun;
  readonly keySets: ReadonlyMap<string, Uint32Array>;
  readonly finished: FinishedDraft;
};

function draftOf(group: GroupedRun, deps: DraftDeps, nowMs: number): RunDrafted {
  const { version, keyCount, pointCount, notedAtMs } = group.state!;
  const draft = draftRun({ keyCount, pointCount, page: (page) => group.pages.get(page)! });
  const keySets = new Map<string, Uint32Array>();
  const writes = group.writes.map((write): GroupWrite => {
    const { columns, keySet, idempotency } = write;
    let ids = keySets.get(keySet);
    if (ids === undefined) {
      const found = group.ids.get(keySet)!;
      // What is in memory is complete, and anything else may lack some.
      ids = found instanceof Uint32Array ? found : draft.idsOf(columns.keys, found);
      keySets.set(keySet, ids);
    }
    draft.add(ids, headNumbersOf(columns), columns.values.length);
    return {
      idempotency,
      block: encodeLanding(columns, ids),
      ...stepRange(columns.steps),
      valueCount: columns.values.length,
      markerSeconds: deps.markerSeconds(write),
    };
  });
  const finished = draft.finish();
  const run: GroupRun = {
    runId: group.runId,
    version,
    keyCount: finished.keyCount,
    pointCount: finished.pointCount,
    noted: nowMs - notedAtMs < NOTE_MS,
    newKeys: finished.newKeys.map(({ key, keyId }) => ({ key, keyId, minimise: isMinimiseKey(key) })),
    changes: finished.changes,
    writes,
  };
  return { group, run, keySets, finished };
}
