import { sql, type Tx } from "@tidemark/pg";

const turnGenerationsSql = sql("control_turn_generations", "SELECT platform.turn_generations() AS emptied");

/** Empties the table of idempotency records whose turn comes next week; returns whether it held any. */
export async function turnGenerations(tx: Tx): Promise<boolean> {
  return (await tx.one<{ emptied: boolean }>(turnGenerationsSql, []))!.emptied;
}
