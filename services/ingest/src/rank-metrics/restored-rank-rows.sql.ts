import { byteaArray, float8Array, sql, type Tx } from "@tidemark/pg";
import { assignRankKeys } from "./rank-writes.sql.ts";

/** A rank's report for a key at a step; times in microseconds since the Unix epoch, NaN where the client sent none. */
export type RestoredRankRow = {
  readonly step: number;
  readonly rank: number;
  readonly localRank: number;
  readonly weight: number;
  readonly value: number;
  readonly receivedUs: number;
  readonly sentUs: number;
};

/** Rows of a key in a world of one size, no two of one step and rank. */
export type RankRows = {
  readonly orgId: string;
  readonly runId: string;
  readonly key: string;
  readonly worldSize: number;
  readonly rows: readonly RestoredRankRow[];
};

// Rows of a page whose keys arrived together have the same time, so the slot of the key distinguishes them.
const insertSql = sql(
  "ingest_restore_rank_rows",
  `WITH written AS (
   INSERT INTO ingest.rank_metric_rows AS r
     (org_id, run_id, set_id, step, rank, arrival, received_us, sent_us, weight, local_rank, first_slot, packed)
   SELECT $1, $2, $3::integer, v.step, v.rank::smallint,
          CASE WHEN $5 THEN 1 + ((v.received::bigint * 64 + $4::smallint) % 2147483646)::integer ELSE 0 END,
          v.received::bigint, nullif(v.sent, 'NaN')::bigint, nullif(v.weight, 1), nullif(v.local_rank, v.rank)::smallint, $4::smallint, v.packed
   FROM unnest($6::float8[], $7::float8[], $8::float8[], $9::float8[], $10::float8[], $11::float8[], $12::bytea[])
        AS v (step, rank, received, sent, weight, local_rank, packed)
   ON CONFLICT (org_id, run_id, set_id, step, rank, arrival) DO UPDATE
   SET received_us = excluded.received_us, sent_us = excluded.sent_us, weight = excluded.weight, local_rank = excluded.local_rank,
       packed = excluded.packed
   WHERE r.arrival = 0 AND r.received_us <= excluded.received_us
   RETURNING r.xmax = '0' AS is_new)
   SELECT count(*)::integer AS stored, (count(*) FILTER (WHERE w.is_new))::integer AS added FROM written w`,
);
const countSql = sql("ingest_count_restored_ranks", "SELECT ingest.count_rank_values($1, $2, $3)");
const markSql = sql(
  "ingest_mark_restored_ranks",
  `INSERT INTO ingest.dirty_markers (org_id, kind, run_id, part, id, due_at)
   VALUES ($1, 'ranks', $2, $3::text, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, now() + make_interval(secs => $4))
   ON CONFLICT DO NOTHING`,
);

/** When a compactor should look at the restored rows. */
const MARKER_SECONDS = 10;

/**
 * Stores rows of a key, in a transaction that keeps others from assigning places to keys of the run.
 * @throws Error where rows of a page could not be distinguished
 */
export async function restoreRankRows(
  tx: Tx,
  { orgId, runId, key, worldSize, rows }: RankRows,
  setsMax?: number,
): Promise<void> {
  const [place] = await assignRankKeys(tx, { orgId, runId, worldSize }, [key], setsMax);
  const { setId, slot, isPage } = place!;
  const column = (of: (row: RestoredRankRow) => number) => float8Array(rows.map(of));
  const written = await tx.one<{ stored: number; added: number }>(insertSql, [
    orgId,
    runId,
    setId,
    slot,
    isPage,
    column(({ step }) => step),
    column(({ rank }) => rank),
    column(({ receivedUs }) => receivedUs),
    column(({ sentUs }) => sentUs),
    column(({ weight }) => weight),
    column(({ localRank }) => localRank),
    byteaArray(rows.map(({ value }) => packed(value))),
  ]);
  const { stored, added } = written!;
  await tx.rows(countSql, [orgId, rows.length, added]);
  if (isPage && stored < rows.length) throw new Error("two rows of a page have one step, rank and moment");
  if (!isPage) await tx.rows(markSql, [orgId, runId, setId, MARKER_SECONDS]);
}

function packed(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeDoubleBE(value);
  return bytes;
}
