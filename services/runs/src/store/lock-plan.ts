import { sql, type Tx } from "@tidemark/pg";

const statement = sql("runs_lock_plan", "SELECT pg_advisory_xact_lock(hashtextextended('runs.plan ' || $1, 0))");

/** Lets one transaction at a time count the organization's projects and runs and add to them, until it ends. */
export async function lockPlan(tx: Tx, orgId: string): Promise<void> {
  await tx.rows(statement, [orgId]);
}
