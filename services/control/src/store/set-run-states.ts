import { sql, type Tx } from "@tidemark/pg";
import { rowOfState, type RunState, type RunStateRow } from "@tidemark/run-state";

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

/** Writes the states of runs that this transaction has locked. */
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
