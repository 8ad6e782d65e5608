import { sql, type Db } from "@tidemark/pg";
import type { LogSource } from "../domain/log-stream.ts";

/** An accepted request of console lines. */
export type WaitingLogRow = {
  readonly id: number;
  /** Microseconds since the Unix epoch. */
  readonly receivedUs: number;
  readonly ageSeconds: number;
  readonly block: Uint8Array;
};

const listWaiting = sql(
  "ingest_waiting_log_rows",
  `SELECT id, received_us AS "receivedUs", age_seconds AS "ageSeconds", block
   FROM ingest.waiting_log_rows($1, $2, $3, $4, $5, $6)`,
);

/**
 * Landing rows of a stream by arrival, none younger than `settleSeconds`: up to `rowsMax`, or to the row that takes their messages to `bytesMax`
 * bytes. `db` runs as the worker.
 */
export function listWaitingLogRows(
  db: Db,
  source: LogSource,
  bounds: { readonly settleSeconds: number; readonly rowsMax: number; readonly bytesMax: number },
): Promise<WaitingLogRow[]> {
  const { settleSeconds, rowsMax, bytesMax } = bounds;
  return db.rows(listWaiting, [source.orgId, source.runId, source.stream, settleSeconds, rowsMax, bytesMax]);
}
