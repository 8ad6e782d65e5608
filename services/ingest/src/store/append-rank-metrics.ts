import { sql, type Db, type Tx } from "@tidemark/pg";
import { layoutOf, packRows, type RankLayout } from "../domain/rank-layout.ts";
import type { RankPlace } from "../domain/rank-limits.ts";
import { byteaArray } from "../writes/binary-array.sql.ts";
import { placeRankKeys, SETS_MAX } from "./place-rank-keys.ts";
import { layoutName, type RankLayouts } from "./rank-layouts.ts";
import { withFreshIds, type IdempotencyHashes, type WriteOutcome } from "../writes/write-outcome.sql.ts";

/** One accepted request of rank metrics. */
export type RankWrite = {
  readonly orgId: string;
  readonly runId: string;
  /** The run is known to exist in the organization, and the caller may see it. */
  readonly runKnown: boolean;
  /** The one project that the caller may see; null for all. */
  readonly onlyProject: string | null;
  readonly idempotency: IdempotencyHashes | null;
  readonly place: RankPlace;
  /** Distinct, in order. */
  readonly keys: readonly string[];
  readonly values: readonly number[];
  /** In how many seconds the compactor shall look at a set that gets a row; null: no mark is left for it. */
  readonly markSeconds: (setId: number) => number | null;
};

const insertRankMetrics = sql(
  "ingest_append_rank_metrics",
  `SELECT outcome, inserted, run_project AS "projectId"
   FROM ingest.append_rank_metrics($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
);

/**
 * Stores a request with its idempotency record in one transaction: one round trip when the keys have come together before, in this process.
 * @throws idempotency_in_progress
 */
export async function appendRankMetrics(
  db: Db,
  layouts: RankLayouts,
  write: RankWrite,
  setsMax = SETS_MAX,
): Promise<WriteOutcome> {
  const { orgId, runId, keys } = write;
  const { worldSize } = write.place;
  const name = layoutName(orgId, runId, worldSize, keys);
  return withFreshIds(async () => {
    for (;;) {
      const known = layouts.get(name);
      if (known !== undefined) return insertRows(db, write, known);
      const stored = await layouts.find(name, () => insertNew(db, write, setsMax));
      if (stored !== undefined) return stored.outcome;
    }
  });
}

/** Makes the places of the keys in the transaction that stores the values: a request that stores nothing leaves no key behind, and has no layout. */
async function insertNew(
  db: Db,
  write: RankWrite,
  setsMax: number,
): Promise<{ readonly outcome: WriteOutcome; readonly layout: RankLayout | null }> {
  const { orgId, runId, keys } = write;
  let refused: WriteOutcome | undefined;
  try {
    return await db.withTenant(orgId, async (tx) => {
      const source = { orgId, runId, worldSize: write.place.worldSize };
      const layout = layoutOf(await placeRankKeys(tx, source, keys, setsMax));
      const outcome = await insertRows(tx, write, layout);
      if (outcome.outcome === "inserted") return { outcome, layout };
      refused = outcome;
      throw new Error("nothing was stored");
    });
  } catch (error) {
    if (refused !== undefined) return { outcome: refused, layout: null };
    throw error;
  }
}

async function insertRows(tx: Tx, write: RankWrite, layout: RankLayout): Promise<WriteOutcome> {
  const { place, idempotency } = write;
  const rows = packRows(layout, write.values);
  // Pages are never folded.
  const marks = rows
    .filter(({ isPage }) => !isPage)
    .map(({ setId }) => ({ setId, seconds: write.markSeconds(setId) }))
    .filter(({ seconds }) => seconds !== null);
  const outcome = await tx.one<WriteOutcome>(insertRankMetrics, [
    write.orgId,
    write.runId,
    write.runKnown,
    write.onlyProject,
    idempotency?.key ?? null,
    idempotency?.body ?? null,
    place.step,
    place.rank,
    place.localRank === place.rank ? null : place.localRank,
    place.weight === 1 ? null : place.weight,
    place.timestampUs,
    write.values.length,
    rows.map(({ setId }) => setId),
    rows.map(({ firstSlot }) => firstSlot),
    rows.map(({ isPage }) => isPage),
    byteaArray(rows.map(({ packed }) => packed)),
    marks.map(({ setId }) => setId),
    marks.map(({ seconds }) => seconds),
  ]);
  return outcome!;
}
