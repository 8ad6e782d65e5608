import { LRUCache } from "lru-cache";
import { isStopPending, type RunStatus, type StopState } from "@tidemark/run-state";

/** A stop request that a running run has not carried out. Instants are RFC 3339 texts. */
type PendingStop = {
  readonly requestId: string;
  readonly requestedAt: string;
  readonly acknowledgedAt: string | null;
};

/** The owner of a run. The many runs of a project share one object. */
type RunOwner = { readonly orgId: string; readonly projectId: string };

/** The state that a poll returns to the training process of a run. */
export type KnownRun = {
  readonly owner: RunOwner;
  readonly status: RunStatus;
  /** Undefined when no stop was requested, and after the run has ended. */
  readonly pending: PendingStop | undefined;
};

/** The same as stored in rows of schema `runs`. */
export type RunControlRow = {
  readonly id: string;
  readonly org_id: string;
  readonly project_id: string;
  readonly status: RunStatus | "deleted";
  readonly stop_state: StopState;
  readonly stop_request_id: string | null;
  readonly stop_requested_at: string | null;
  readonly stop_acknowledged_at: string | null;
};

/** Returns the known state of a run from its row; undefined for a deleted one. */
export function knownRun(row: RunControlRow, owner: RunOwner): KnownRun | undefined {
  const { status, stop_request_id: requestId, stop_requested_at: requestedAt } = row;
  if (status === "deleted") return undefined;
  const asked = isStopPending(status, row.stop_state) && requestId !== null && requestedAt !== null;
  const pending = asked ? { requestId, requestedAt, acknowledgedAt: row.stop_acknowledged_at } : undefined;
  return { owner, status, pending };
}

/** Every running run of the installation, and some that have ended, in memory: about 200 bytes per run. */
type LiveRuns = {
  readonly find: (runId: string) => KnownRun | undefined;
  /** Takes current rows of the database; of ended runs, only those that are in memory already. */
  readonly put: (rows: readonly RunControlRow[]) => void;
  /** Takes a run that was looked up, running or not; undefined for a deleted one. */
  readonly putAsked: (row: RunControlRow) => KnownRun | undefined;
  /** Begins a new memory next to the current one; until `endSnapshot` both are kept up to date. */
  readonly beginSnapshot: () => void;
  /** Replaces the current memory by the new one: forgets running runs that were not put since, and all runs that have ended. */
  readonly endSnapshot: () => void;
  readonly count: () => { running: number; ended: number };
};

/** How many ended runs stay in memory: their processes poll once or twice more. */
const ENDED_MAX = 10_000;
const OWNERS_MAX = 50_000;

/** Creates an empty memory of runs that keeps at most `endedMax` ended ones. */
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

  const take = (row: RunControlRow, asked: boolean): KnownRun | undefined => {
    const run = knownRun(row, ownerOf(row));
    if (run === undefined) {
      running.delete(row.id);
      next?.delete(row.id);
      ended.delete(row.id);
      return undefined;
    }
    if (run.status === "running") {
      running.set(row.id, run);
      if (next !== running) next?.set(row.id, run);
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
      // While memory is empty, no second copy is needed.
      next = running.size === 0 ? running : new Map();
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

/**
 * The view of a transaction of the database server, as its text `xmin:xmax:xip,…` (pg_snapshot):
 * every transaction below xmin had ended, none from xmax on had begun.
 */
export type ServerSnapshot = string;

/** Returns the oldest transaction that the snapshot may not have seen. */
export function floorOf(snapshot: ServerSnapshot): bigint {
  return BigInt(snapshot.slice(0, snapshot.indexOf(":")));
}

/** Returns whether the server was restored to an earlier state between two snapshots: its counter went back. */
export function wasRestored(before: ServerSnapshot, now: ServerSnapshot): boolean {
  return ceilingOf(now) < ceilingOf(before);
}

function ceilingOf(snapshot: ServerSnapshot): bigint {
  const [, xmax = "0"] = snapshot.split(":");
  return BigInt(xmax);
}
