import { aggregatePageOf, AGGREGATES_PER_PAGE, type AggregateNumbers } from "@tidemark/codecs/metrics";
import type { Tx } from "@tidemark/pg";
import type { PendingWrite } from "./pending-write.rules.ts";
import type { GroupPlan, LoadedRun } from "./plan-group.rules.ts";
import type { RunState, RunStates } from "./run-states.rules.ts";
import { loadMetricRuns } from "./run-states.sql.ts";

/** A run of a group, while what its writes need is looked up. */
type LoadingRun = Omit<LoadedRun, "state" | "keyIds" | "pages"> & {
  state: RunState | undefined;
  readonly keyIds: Map<string, Uint32Array | Int32Array>;
  readonly pages: Map<number, AggregateNumbers>;
};

/** The first load may show which pages a second one must load; twice as many loads for a run that changes in between. */
const LOADS_MAX = 4;

/**
 * Returns the runs of a group in the order of their ids, with what is known of them. Loads through `tx` what is not in memory.
 * Returns undefined when a run changes faster than it is loaded.
 */
export async function loadGroup(
  tx: Tx,
  orgId: string,
  writes: readonly PendingWrite[],
  states: RunStates,
): Promise<readonly LoadedRun[] | undefined> {
  const runs = runsOf(writes, states);
  for (let loads = 0; await loadMissing(tx, orgId, runs, states); loads++) {
    if (loads === LOADS_MAX) return undefined;
  }
  return runs.map((run) => ({ ...run, projectId: run.state!.projectId ?? run.projectId, state: run.state! }));
}

function runsOf(writes: readonly PendingWrite[], states: RunStates): LoadingRun[] {
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
      keyIds: new Map(),
      pages: new Map(),
    };
  });
}

type Missing = {
  readonly run: LoadingRun;
  readonly keySets: Map<string, readonly string[]>;
  readonly pages: Set<number>;
};

/** Returns what is known neither of the run nor in memory, and adds to the run what is in memory. */
function missingOf(run: LoadingRun, states: RunStates): Missing {
  const keySets = new Map<string, readonly string[]>();
  const pages = new Set<number>();
  const { state } = run;
  const need = (page: number): void => {
    if (run.pages.has(page)) return;
    const known = state === undefined ? undefined : states.page(state, page);
    if (known === undefined) pages.add(page);
    else run.pages.set(page, known);
  };
  for (const { keySet, columns } of run.writes) {
    const ids = run.keyIds.get(keySet) ?? (state === undefined ? undefined : states.keyIds(state, keySet));
    if (ids === undefined) {
      keySets.set(keySet, columns.keys);
      continue;
    }
    run.keyIds.set(keySet, ids);
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
  return { run, keySets, pages };
}

/** Loads what is missing. Returns false when nothing was missing. */
async function loadMissing(tx: Tx, orgId: string, runs: readonly LoadingRun[], states: RunStates): Promise<boolean> {
  const missing = runs
    .map((run) => missingOf(run, states))
    .filter(({ run, keySets, pages }) => run.state === undefined || keySets.size > 0 || pages.size > 0);
  if (missing.length === 0) return false;
  const loaded = await loadMetricRuns(tx, {
    orgId,
    runIds: missing.map(({ run }) => run.runId),
    // Most pages of a known run are in memory. The missing ones are known once the ids are.
    withPages: missing.map(({ run }) => run.state === undefined),
    keys: missing.flatMap(({ keySets }, run) => [...keySets.values()].flat().map((key) => ({ run, key }))),
    pages: missing.flatMap(({ pages }, run) => Array.from(pages, (page) => ({ run, page }))),
  });
  missing.forEach(({ run }, i) => {
    const stored = loaded.runs[i]!;
    const known = run.state ?? states.get(run.runId);
    if (known?.version === stored.version) run.state = known;
    else {
      run.state = { runId: run.runId, ...stored, notedMinute: 0 };
      run.keyIds.clear();
      run.pages.clear();
    }
    states.set(run.state);
  });
  let at = 0;
  for (const { run, keySets } of missing) {
    for (const [keySet, keys] of keySets) {
      run.keyIds.set(keySet, loaded.keyIds.subarray(at, at + keys.length));
      at += keys.length;
    }
  }
  for (const { run: index, page, numbers } of loaded.pages) {
    const { run } = missing[index]!;
    run.pages.set(page, numbers);
    states.setPage(run.state!, page, numbers);
  }
  return true;
}

/** Remembers what a plan that was stored and committed says of its runs. They are noted as unindexed in that minute. */
export function applyGroup({ runs }: GroupPlan, notedMinute: number, states: RunStates): void {
  for (const { version, writes, keyCount, pointCount, known } of runs) {
    const { state } = known;
    state.version = version + writes.length;
    state.keyCount = keyCount;
    state.pointCount = pointCount;
    state.notedMinute = notedMinute;
    states.set(state);
    for (const [page, numbers] of known.pages) states.setPage(state, page, numbers);
    for (const [keySet, ids] of known.keyIds) states.setKeyIds(state, keySet, ids);
  }
}
