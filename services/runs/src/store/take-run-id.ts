import { sql, type Tx } from "@tidemark/pg";

const takeRunIdSql = sql("runs_take_run_id", "SELECT runs.take_run_id($1, $2) AS taken");

/**
 * Takes a run id for the organization until the transaction ends, and for good when it commits.
 * False when anybody has it. Of concurrent takers one goes on, the others wait for its end.
 */
export async function takeRunId(tx: Tx, orgId: string, runId: string): Promise<boolean> {
  const row = await tx.one<{ taken: boolean }>(takeRunIdSql, [runId, orgId]);
  return row?.taken === true;
}
