import { sql, type Tx } from "@tidemark/pg";
import type { LogStream } from "./log-page.rules.ts";

const findStreams = sql(
  "ingest_export_log_streams",
  `SELECT w.id AS "runId", s.stream
   FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, n) CROSS JOIN unnest(ARRAY['stdout', 'stderr']) WITH ORDINALITY AS s (stream, m)
   WHERE EXISTS (SELECT 1 FROM ingest.log_blocks b WHERE b.org_id = $1 AND b.run_id = w.id AND b.stream = s.stream OFFSET 0)
      OR EXISTS (SELECT 1 FROM ingest.log_segments g WHERE g.org_id = $1 AND g.run_id = w.id AND g.stream = s.stream OFFSET 0)
   ORDER BY w.n, s.m`,
);

/** Returns the streams of the runs that have lines. */
export function findLogStreams(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
): Promise<{ runId: string; stream: LogStream }[]> {
  return tx.rows(findStreams, [orgId, runIds]);
}
