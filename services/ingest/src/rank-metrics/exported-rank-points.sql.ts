import { binarySql, sql, type Tx } from "@tidemark/pg";
import type { PackedRankEntries, RankRow } from "./rank-columns.rules.ts";

/** A set of keys that were reported together in a world of one size; `keys` are by slot. In a page, NaN means that the value was not reported. */
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
