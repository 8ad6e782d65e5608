import { sql, type Tx, byteaArray, int4Array, int8Array } from "@tidemark/pg";
import type { LogStream, LogSource } from "./log-page.rules.ts";

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

/** Lines of a stream that were received at one moment, in microseconds since the Unix epoch. */
export type LogSegment = {
  /** A multiple of 64: its lines have the ids from there on. */
  readonly id: number;
  readonly receivedUs: number;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly lines: number;
  readonly messageBytes: number;
  /** A block of the log codec with ids from 0 and without times of arrival. */
  readonly block: Uint8Array;
};

const insertSql = sql(
  "ingest_restore_log_segments",
  `INSERT INTO ingest.log_segments (org_id, run_id, stream, id, received_us, first_line, last_line, lines, message_bytes, block)
   SELECT $1, $2, $3, s.id, s.received_us, s.first_line, s.last_line, s.lines::smallint, s.message_bytes, s.block
   FROM unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::integer[], $9::integer[], $10::bytea[])
        AS s (id, received_us, first_line, last_line, lines, message_bytes, block)`,
);
const markSql = sql(
  "ingest_mark_restored_lines",
  `INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
   VALUES ($1, 'logs', $2, $3, $4, now() + make_interval(secs => $5)) ON CONFLICT DO NOTHING`,
);

/** When a compactor should look at the restored lines. */
const MARKER_SECONDS = 10;

/** Stores segments of a stream. */
export async function insertLogSegments(tx: Tx, source: LogSource, segments: readonly LogSegment[]): Promise<void> {
  const { orgId, runId, stream } = source;
  await tx.rows(insertSql, [
    orgId,
    runId,
    stream,
    int8Array(segments.map(({ id }) => id)),
    int8Array(segments.map(({ receivedUs }) => receivedUs)),
    int8Array(segments.map(({ firstLine }) => firstLine)),
    int8Array(segments.map(({ lastLine }) => lastLine)),
    int4Array(segments.map(({ lines }) => lines)),
    int4Array(segments.map(({ messageBytes }) => messageBytes)),
    byteaArray(segments.map(({ block }) => block)),
  ]);
  await tx.rows(markSql, [orgId, runId, stream, segments[0]!.id, MARKER_SECONDS]);
}
