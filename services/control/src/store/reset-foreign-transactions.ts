import { sql, type Tx } from "@tidemark/pg";

const tables = ["organizations", "api_keys", "sessions"] as const;

const statements = tables.map((table) =>
  sql(
    `control_reset_foreign_transactions_${table}`,
    `UPDATE control.${table} SET changed_xid = pg_current_xact_id()
     WHERE changed_xid >= pg_snapshot_xmax(pg_current_snapshot())`,
  ),
);

/**
 * Rows that came from another server (a restored dump) carry transaction numbers that this one has
 * not reached; every poll would return them until it has. Gives them a number of this server.
 * Returns how many there were. Runs as the worker role.
 */
export async function resetForeignTransactions(tx: Tx): Promise<number> {
  let rows = 0;
  for (const statement of statements) rows += await tx.count(statement, []);
  return rows;
}
