import { sql, type Tx } from "@tidemark/pg";
import { isMissingSchema } from "../stops/run-states.sql.ts";

const turnGenerationsSql = sql("control_turn_generations", "SELECT platform.turn_generations() AS emptied");

/** Empties the table of idempotency records that is next in use, a week from now; returns whether it held any. */
export async function turnGenerations(tx: Tx): Promise<boolean> {
  return (await tx.one<{ emptied: boolean }>(turnGenerationsSql, []))!.emptied;
}

const keys = { organizations: "org_id", api_keys: "credential_id", sessions: "credential_id" } as const;

/**
 * Each gives at most `batch` rows of one table that came from another server (a restored dump) a transaction number of
 * this one, and returns their number. These rows have numbers that this server has not reached, so that every poll would
 * return them until it has. Run as the worker role.
 */
export const foreignTransactionResets = Object.entries(keys).map(([table, key]) => {
  const statement = sql(
    `control_reset_foreign_transactions_${table}`,
    `UPDATE control.${table} SET changed_xid = pg_current_xact_id()
     WHERE ${key} IN (SELECT ${key} FROM control.${table} WHERE changed_xid >= pg_snapshot_xmax(pg_current_snapshot())
                      ORDER BY changed_xid, ${key} LIMIT $1)`,
  );
  return (tx: Tx, batch: number): Promise<number> => tx.count(statement, [batch]);
});

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
