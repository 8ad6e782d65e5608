import { binarySql, sql, type Tx, byteaArray, float8Array } from "@tidemark/pg";
import type { PackedRankEntries, RankRow } from "./rank-columns.rules.ts";
import { VALUE_BYTES, writeValue } from "./rank-values.rules.ts";
import { assignRankKeys } from "./rank-writes.sql.ts";

/** A set of keys that were reported together in a world of one size; `keys` are by slot. In a page, some values may be missing. */
export type StoredRankSet = {
  readonly runId: string;
  readonly setId: number;
  readonly worldSize: number;
  readonly isPage: boolean;
  readonly keys: readonly string[];
};

const listSets = sql(
  "ingest_export_rank_sets",
  `SELECT w.id AS "runId", s.set_id AS "setId", s.world_size AS "worldSize", s.digest IS NULL AS "isPage"
   FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, n)
   CROSS JOIN LATERAL (SELECT f.set_id, f.world_size, f.digest FROM ingest.rank_metric_sets f
                       WHERE f.org_id = $1 AND f.run_id = w.id ORDER BY f.set_id OFFSET 0) s
   ORDER BY w.n, s.set_id`,
);

const listKeys = sql(
  "ingest_export_rank_keys",
  `SELECT key, set_id AS "setId", slot FROM ingest.rank_metric_keys WHERE org_id = $1 AND run_id = $2`,
);

/** Returns the sets of the runs, run by run. */
export async function* readRankSets(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
): AsyncGenerator<StoredRankSet, void, undefined> {
  const sets = await tx.rows<Omit<StoredRankSet, "keys">>(listSets, [orgId, runIds]);
  let keysOf: { runId: string; sets: Map<number, string[]> } | undefined;
  for (const set of sets) {
    if (keysOf?.runId !== set.runId) {
      keysOf = { runId: set.runId, sets: new Map() };
      const rows = await tx.rows<{ key: string; setId: number; slot: number }>(listKeys, [orgId, set.runId]);
      for (const { key, setId, slot } of rows) {
        const keys = keysOf.sets.get(setId) ?? [];
        keys[slot] = key;
        keysOf.sets.set(setId, keys);
      }
    }
    yield { ...set, keys: keysOf.sets.get(set.setId) ?? [] };
  }
}

const listBlocks = binarySql(
  "ingest_export_rank_blocks",
  `SELECT b.last_step AS "lastStep", b.block_id AS "blockId", b.entries, b.steps, b.ranks, b.local_ranks AS "localRanks", b.weights,
          b.received_us AS "receivedUs", b.sent_us AS "sentUs", b.set_values AS "values"
   FROM ingest.rank_metric_blocks b
   WHERE b.org_id = $1 AND b.run_id = $2 AND b.set_id = $3 AND (b.last_step, b.block_id) > ($4::double precision, $5::uuid)
   ORDER BY b.last_step, b.block_id LIMIT 1`,
);

/** Reads the blocks of a set. */
export async function* readRankBlocks(
  tx: Tx,
  orgId: string,
  { runId, setId }: StoredRankSet,
): AsyncGenerator<PackedRankEntries, void, undefined> {
  let after: [number | string, string] = ["-Infinity", "00000000-0000-0000-0000-000000000000"];
  for (;;) {
    const block = await tx.one<PackedRankEntries & { lastStep: number; blockId: string }>(listBlocks, [
      orgId,
      runId,
      setId,
      ...after,
    ]);
    if (block === undefined) return;
    yield block;
    after = [block.lastStep, block.blockId];
  }
}

const listRows = binarySql(
  "ingest_export_rank_rows",
  `SELECT r.step, r.rank, r.arrival, coalesce(r.local_rank, r.rank) AS "localRank", coalesce(r.weight, 1) AS weight,
          r.received_us AS "receivedUs", coalesce(r.sent_us::double precision, 'NaN') AS "sentUs", r.first_slot AS "firstSlot", r.packed
   FROM ingest.rank_metric_rows r
   WHERE r.org_id = $1 AND r.run_id = $2 AND r.set_id = $3
     AND (r.step, r.rank, r.arrival) > ($4::double precision, $5::smallint, $6::integer)
   ORDER BY r.step, r.rank, r.arrival LIMIT 500`,
);

/** Reads the rows of a set. */
export async function* readRankRows(
  tx: Tx,
  orgId: string,
  { runId, setId }: StoredRankSet,
): AsyncGenerator<RankRow[], void, undefined> {
  let after: unknown[] = ["-Infinity", -1, -1];
  for (;;) {
    const rows = await tx.rows<RankRow>(listRows, [orgId, runId, setId, ...after]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = [last.step, last.rank, last.arrival];
  }
}

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
  const bytes = Buffer.alloc(VALUE_BYTES);
  writeValue(new DataView(bytes.buffer, bytes.byteOffset, VALUE_BYTES), 0, value);
  return bytes;
}
