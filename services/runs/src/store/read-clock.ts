import { sql, type Tx } from "@tidemark/pg";

const readClockSql = sql("runs_read_clock", "SELECT clock_timestamp() AS at");

/** What time it is for the database, the one clock of all processes. */
export async function readClock(tx: Tx): Promise<string> {
  const row = await tx.one<{ at: string }>(readClockSql, []);
  if (row === undefined) throw new Error("the database does not tell the time");
  return row.at;
}
