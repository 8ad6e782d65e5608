import { sql, type Tx } from "@tidemark/pg";
import { isMissingSchema } from "../stops/runs-schema.sql.ts";

const turnGenerationsSql = sql("control_turn_generations", "SELECT platform.turn_generations() AS emptied");

/** Empties the table of idempotency records that is next in use, a week from now; returns whether it held any. */
export async function turnGenerations(tx: Tx): Promise<boolean> {
  return (await tx.one<{ emptied: boolean }>(turnGenerationsSql, []))!.emptied;
}

const tables = ["organizations", "api_keys", "sessions"] as const;

const statements = tables.map((table) =>
  sql(
    `control_reset_foreign_transactions_${table}`,
    `UPDATE control.${table} SET changed_xid = pg_current_xact_id()
     WHERE changed_xid >= pg_snapshot_xmax(pg_current_snapshot())`,
  ),
);

/**
 * Gives rows that came from another server (a restored dump) a transaction number of this one. They carry numbers that
 * this server has not reached, so that every poll would return them until it has. Returns the number of rows. Runs as
 * the worker role.
 */
export async function resetForeignTransactions(tx: Tx): Promise<number> {
  let rows = 0;
  for (const statement of statements) rows += await tx.count(statement, []);
  return rows;
}

const adoptRunChangesSql = sql("control_adopt_run_changes", "SELECT runs.adopt_changes_v1($1) AS adopted");

/**
 * Gives at most `batch` runs that came from another server (a restored dump) a transaction number of this one; every
 * read of changes would return them otherwise. Returns their number; 0 while the runs service has not set up its schema.
 * Runs as the worker role.
 */
export async function adoptRunChanges(tx: Tx, batch: number): Promise<number> {
  try {
    const row = await tx.one<{ adopted: number }>(adoptRunChangesSql, [batch]);
    return row?.adopted ?? 0;
  } catch (error) {
    if (isMissingSchema(error)) return 0;
    throw error;
  }
}
