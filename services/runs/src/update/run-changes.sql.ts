import { sql, type Tx } from "@tidemark/pg";
import {
  appendLifecycle,
  applyRunEvent,
  instantOf,
  instantText,
  rowOfState,
  stateOfRow,
  type RunEvent,
  type RunState,
  type RunStateRow,
} from "@tidemark/run-state";
import type { LifecycleRow } from "../read/runs.sql.ts";

/** A run that this transaction has locked. */
type LockedRun = {
  readonly projectId: string;
  readonly state: RunState;
  readonly lifecycle: readonly LifecycleRow[];
  /** When the lock was obtained: the time of a transition. */
  readonly at: Date;
};

type LockedRow = RunStateRow & { readonly project_id: string; readonly lifecycle: string; readonly locked_at: string };

const lockRunStateSql = sql("runs_lock_run_state", "SELECT * FROM runs.lock_state_v1($1, $2)");

/** Locks a run until the transaction ends and returns its state; undefined when it is not in the organization. */
export async function lockRunState(tx: Tx, orgId: string, runId: string): Promise<LockedRun | undefined> {
  const row = await tx.one<LockedRow>(lockRunStateSql, [orgId, runId]);
  if (row === undefined) return undefined;
  return {
    projectId: row.project_id,
    lifecycle: JSON.parse(row.lifecycle) as LifecycleRow[],
    at: instantOf(row.locked_at),
    state: stateOfRow(row),
  };
}

/** Applies an event to a locked run and writes the state if it changed. */
export async function moveRun(tx: Tx, orgId: string, runId: string, locked: LockedRun, event: RunEvent): Promise<void> {
  const { state, changed, lifecycle: entry } = applyRunEvent(locked.state, event, locked.at);
  if (!changed) return;
  const lifecycle =
    entry === null
      ? undefined
      : appendLifecycle(locked.lifecycle, {
          status_from: entry.statusFrom,
          status_to: entry.statusTo,
          at: instantText(entry.at),
          kind: entry.kind,
        });
  await setRunState(tx, orgId, runId, state, lifecycle);
}

const setRunStateSql = sql(
  "runs_set_run_state",
  "SELECT runs.set_state_v1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
);

/** Writes the state of a locked run; undefined leaves its lifecycle entries. */
async function setRunState(
  tx: Tx,
  orgId: string,
  runId: string,
  state: RunState,
  lifecycle: readonly LifecycleRow[] | undefined,
): Promise<void> {
  const row = rowOfState(state);
  await tx.rows(setRunStateSql, [
    orgId,
    runId,
    row.status,
    row.finished_at,
    row.resume_count,
    row.resumed_at,
    row.stop_state,
    row.stop_request_id,
    row.stop_reason,
    row.stop_completion_message,
    row.stop_actor,
    row.stop_requested_at,
    row.stop_acknowledged_at,
    row.stop_completed_at,
    row.stop_updated_at,
    lifecycle === undefined ? null : JSON.stringify(lifecycle),
  ]);
}

const updateRunDocumentsSql = sql(
  "runs_update_run_documents",
  `UPDATE runs.runs SET tags = coalesce($3, tags), metadata = coalesce($4, metadata), name = coalesce($5, name)
   WHERE org_id = $1 AND id = $2`,
);

/** Replaces name, tags and metadata of a locked run; undefined leaves them. */
export async function updateRunDocuments(
  tx: Tx,
  orgId: string,
  runId: string,
  changes: {
    readonly name: string | undefined;
    readonly tags: readonly string[] | undefined;
    readonly metadata: string | undefined;
  },
): Promise<void> {
  await tx.count(updateRunDocumentsSql, [
    orgId,
    runId,
    changes.tags ?? null,
    changes.metadata ?? null,
    changes.name ?? null,
  ]);
}
