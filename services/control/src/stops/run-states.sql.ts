import { sql, type Tx } from "@tidemark/pg";
import { instantOf, rowOfState, stateOfRow, type RunState, type RunStateRow } from "@tidemark/run-state";

// Locks one after another in the given order, so that two transactions never wait for each other forever.
const lockRunsSql = sql(
  "control_lock_runs",
  `SELECT wanted.id, locked.*
   FROM unnest($2::uuid[]) AS wanted (id), LATERAL runs.lock_state_v1($1, wanted.id) AS locked`,
);

/** A run that this transaction has locked. */
export type LockedRun = {
  readonly id: string;
  readonly projectId: string;
  readonly state: RunState;
  /** When the lock was obtained: the time of the transition. */
  readonly at: Date;
};

type Row = RunStateRow & { readonly id: string; readonly project_id: string; readonly locked_at: string };

/** Locks runs, in the order of their ids, until the transaction ends; leaves out those that are not in the organization. */
export async function lockRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<LockedRun[]> {
  const rows = await tx.rows<Row>(lockRunsSql, [orgId, runIds.toSorted()]);
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    state: stateOfRow(row),
    at: instantOf(row.locked_at),
  }));
}

// The parameters of runs.set_state_v1 after the run, in their order, with their types.
const columns = {
  status: "text",
  finished_at: "timestamptz",
  resume_count: "integer",
  resumed_at: "timestamptz",
  stop_state: "text",
  stop_request_id: "uuid",
  stop_reason: "text",
  stop_completion_message: "text",
  stop_actor: "text",
  stop_requested_at: "timestamptz",
  stop_acknowledged_at: "timestamptz",
  stop_completed_at: "timestamptz",
  stop_updated_at: "timestamptz",
} as const satisfies Partial<Record<keyof RunStateRow, string>>;

const names = Object.keys(columns) as (keyof typeof columns)[];

const setRunStatesSql = sql(
  "control_set_run_states",
  `SELECT runs.set_state_v1($1, s.id, ${names.map((name) => `s.${name}`).join(", ")})
   FROM unnest($2::uuid[], ${names.map((name, i) => `$${i + 3}::${columns[name]}[]`).join(", ")})
     AS s (id, ${names.join(", ")})`,
);

/** Writes the states of one or more runs that this transaction has locked. */
export async function setRunStates(
  tx: Tx,
  orgId: string,
  changed: readonly { readonly id: string; readonly state: RunState }[],
): Promise<void> {
  const rows = changed.map(({ state }) => rowOfState(state));
  await tx.rows(setRunStatesSql, [
    orgId,
    changed.map(({ id }) => id),
    ...names.map((name) => rows.map((row) => row[name])),
  ]);
}
