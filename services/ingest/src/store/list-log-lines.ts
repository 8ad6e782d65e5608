import { sql, type Tx } from "@tidemark/pg";
import type { LogPosition } from "../domain/log-cursor.ts";
import type { LogStream } from "../domain/log-stream.ts";

/** A stored console line. */
export type LogLineRow = {
  readonly lineNumber: number;
  readonly id: number;
  readonly message: string;
  /** The client's time or, without one, that of `createdAt`. */
  readonly timestamp: string;
  readonly createdAt: string;
};

/** The stream of a run. */
export type LogSource = { readonly orgId: string; readonly runId: string; readonly stream: LogStream };

const COLUMNS = `line_number AS "lineNumber", id, message, coalesce(sent_at, created_at) AS timestamp, created_at AS "createdAt"`;

const listLines = sql(
  "ingest_list_log_lines",
  `SELECT ${COLUMNS} FROM ingest.log_lines
   WHERE org_id = $1 AND run_id = $2 AND stream = $3 AND (line_number, id) > ($4, $5)
   ORDER BY line_number, id LIMIT $6`,
);

/** The lines after a position, in order. */
export function listLogLines(tx: Tx, source: LogSource, after: LogPosition, limit: number): Promise<LogLineRow[]> {
  return tx.rows(listLines, [source.orgId, source.runId, source.stream, after.lineNumber, after.id, limit]);
}

const tailLines = sql(
  "ingest_tail_log_lines",
  `SELECT ${COLUMNS} FROM (
     SELECT * FROM ingest.log_lines
     WHERE org_id = $1 AND run_id = $2 AND stream = $3
     ORDER BY line_number DESC, id DESC LIMIT $4
   ) newest
   ORDER BY line_number, id`,
);

/** The last lines of the stream, in order. */
export function tailLogLines(tx: Tx, source: LogSource, count: number): Promise<LogLineRow[]> {
  return tx.rows(tailLines, [source.orgId, source.runId, source.stream, count]);
}
