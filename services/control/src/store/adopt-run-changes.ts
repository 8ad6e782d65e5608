import { sql, type Tx } from "@tidemark/pg";
import { isMissingSchema } from "./missing-schema.ts";

const adoptRunChangesSql = sql("control_adopt_run_changes", "SELECT runs.adopt_changes_v1($1) AS adopted");

/**
 * Gives at most `batch` runs that came from another server (a restored dump) a transaction number of
 * this one; every look for changes would return them otherwise. Returns how many there were; none
 * while the runs service has not set up its schema. Runs as the worker role.
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
