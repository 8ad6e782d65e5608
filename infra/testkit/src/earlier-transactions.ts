import { type Db } from "@tidemark/pg";
import { until } from "./until.ts";
import { testSql } from "./test-sql.ts";

const takeNumber = testSql("SELECT pg_current_xact_id()::text AS number");
const haveEnded = testSql("SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8 AS ended");

/**
 * Waits until every transaction has ended that began to write before this call, in any database of the server: writes
 * of other test files delay code that waits for earlier writes.
 */
export async function untilEarlierWritesEnd(db: Pick<Db, "one">): Promise<void> {
  const taken = await db.one<{ number: string }>(takeNumber, []);
  await until(
    "earlier transactions to end",
    async () => (await db.one<{ ended: boolean }>(haveEnded, [taken?.number]))?.ended,
  );
}
