import { byteaArray, int4Array, int8Array, sql, type Tx } from "@tidemark/pg";
import type { LogSource } from "./log-page.rules.ts";

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
