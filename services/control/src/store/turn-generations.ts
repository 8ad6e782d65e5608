import { sql, type Tx } from "@tidemark/pg";

const statement = sql("control_turn_generations", "SELECT platform.turn_generations() AS dropped");

/** Makes room for coming idempotency records and drops those past their seven days; returns how many weeks went. */
export async function turnGenerations(tx: Tx): Promise<number> {
  return (await tx.one<{ dropped: number }>(statement, []))!.dropped;
}
