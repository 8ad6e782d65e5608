import { sql, type Tx } from "@tidemark/pg";
import type { LogPosition } from "../domain/log-cursor.ts";
import type { LogLineRow, LogSource } from "./list-log-lines.ts";

/** A line that a search looked at; `message` is null when it does not contain the text. */
export type ScannedLine = Omit<LogLineRow, "message"> & { readonly message: string | null };

// lower() in collation "C" knows ASCII letters only.
const searchLines = sql(
  "ingest_search_log_lines",
  `SELECT line_number AS "lineNumber", id,
          CASE WHEN position(lower($6::text COLLATE "C") IN lower(message)) > 0 THEN message END AS message,
          coalesce(sent_at, created_at) AS timestamp, created_at AS "createdAt"
   FROM ingest.log_lines
   WHERE org_id = $1 AND run_id = $2 AND stream = $3 AND (line_number, id) > ($4, $5)
   ORDER BY line_number, id LIMIT $7`,
);

/** Looks at the lines after a position, in order, for a text; ASCII letters match in either case. */
export function searchLogLines(
  tx: Tx,
  source: LogSource,
  after: LogPosition,
  text: string,
  linesMax: number,
): Promise<ScannedLine[]> {
  return tx.rows(searchLines, [source.orgId, source.runId, source.stream, after.lineNumber, after.id, text, linesMax]);
}
