import { LRUCache } from "lru-cache";
import { knownRun, type KnownRun, type RunControlRow, type RunOwner } from "./known-run.ts";

/** Every running run of the installation, and some that have ended, in memory: about 200 bytes each. */
export type LiveRuns = {
  readonly find: (runId: string) => KnownRun | undefined;
  /** Takes what the database says now; of runs that have ended only those that were asked about. */
  readonly put: (rows: readonly RunControlRow[]) => void;
  /** Takes a run that somebody asked about, running or not. */
  readonly putAsked: (row: RunControlRow) => KnownRun;
  /** Begins a snapshot beside what is known; until `endSnapshot` both are kept up to date. */
  readonly beginSnapshot: () => void;
  /** Running runs that the snapshot does not hold are forgotten, and all that have ended. */
  readonly endSnapshot: () => void;
  readonly count: () => { running: number; ended: number };
};

/** How many ended runs are remembered; their processes poll once or twice more. */
const ENDED_MAX = 10_000;
const OWNERS_MAX = 50_000;

/** Makes an empty memory of runs. */
export function createLiveRuns(endedMax = ENDED_MAX): LiveRuns {
  let running = new Map<string, KnownRun>();
  let next: Map<string, KnownRun> | undefined;
  const ended = new LRUCache<string, KnownRun>({ max: endedMax });
  const owners = new LRUCache<string, RunOwner>({ max: OWNERS_MAX });

  const ownerOf = ({ org_id: orgId, project_id: projectId }: RunControlRow): RunOwner => {
    const key = `${orgId}/${projectId}`;
    let owner = owners.get(key);
    if (owner === undefined) {
      owner = { orgId, projectId };
      owners.set(key, owner);
    }
    return owner;
  };

  const take = (row: RunControlRow, asked: boolean): KnownRun => {
    const run = knownRun(row, ownerOf(row));
    if (run.status === "running") {
      running.set(row.id, run);
      next?.set(row.id, run);
      ended.delete(row.id);
      return run;
    }
    const known = running.delete(row.id) || ended.has(row.id);
    next?.delete(row.id);
    if (known || asked) ended.set(row.id, run);
    return run;
  };

  return {
    find: (runId) => running.get(runId) ?? ended.get(runId),
    put: (rows) => {
      for (const row of rows) take(row, false);
    },
    putAsked: (row) => take(row, true),
    beginSnapshot: () => {
      next = new Map();
    },
    endSnapshot: () => {
      if (next === undefined) return;
      running = next;
      next = undefined;
      ended.clear();
    },
    count: () => ({ running: running.size, ended: ended.size }),
  };
}
