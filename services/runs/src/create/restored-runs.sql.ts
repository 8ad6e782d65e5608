import { sql, uuidArray, type Tx } from "@tidemark/pg";
import type { RunFields } from "@tidemark/run-state";

const takenSql = sql("runs_find_taken_ids", "SELECT id FROM runs.taken_run_ids($1) AS id");

/** Returns the ids that a run of any organization has. */
export async function findTakenIds(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(takenSql, [uuidArray([...ids])]);
  return rows.map(({ id }) => id);
}

/** A row of `runs.runs` as an archive has it; instants are RFC 3339 texts, documents canonical JSON. */
export type RestoredRunRow = RunFields<undefined> & {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly config: string;
  readonly tags: readonly string[];
  readonly metadata: string;
  readonly created_at: string;
  readonly started_at: string;
  readonly resume_count: number;
  readonly lifecycle: readonly object[];
  readonly stop_state: string;
  readonly stop_request_id: string | undefined;
  readonly stop_reason: string | undefined;
  readonly stop_completion_message: string | undefined;
  readonly stop_actor: string | undefined;
  readonly stop_requested_at: string | undefined;
  readonly stop_acknowledged_at: string | undefined;
  readonly stop_completed_at: string | undefined;
  readonly stop_updated_at: string | undefined;
};

const restoreSql = sql("runs_restore_runs", "SELECT runs.restore_runs($1, $2, $3) AS present");

/** Stores and counts the runs whose ids are free. Returns how many of them the organization has afterwards. The project must exist. */
export async function restoreRunRows(
  tx: Tx,
  orgId: string,
  projectId: string,
  rows: readonly RestoredRunRow[],
): Promise<number> {
  const row = await tx.one<{ present: number }>(restoreSql, [orgId, projectId, JSON.stringify(rows)]);
  return row!.present;
}
