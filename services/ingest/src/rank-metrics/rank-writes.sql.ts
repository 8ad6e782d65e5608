import { byteaArray, type Db, sql, textArray, type Tx } from "@tidemark/pg";
import { withFreshIds } from "../writes/fresh-ids.sql.ts";
import type { IdempotencyHashes, WriteOutcome } from "../writes/writes.rules.ts";
import {
  layoutName,
  layoutOf,
  packRows,
  type KeySlot,
  type RankLayout,
  type RankLayouts,
  type RankReport,
} from "./rank-reports.rules.ts";
import { rowCounterOf, type Claim } from "../compaction/compaction-work.sql.ts";

/** One accepted request of rank metrics: the values that one rank reports at one step. */
export type RankWrite = {
  readonly orgId: string;
  readonly runId: string;
  /** Whether the run is known to exist in the organization and to be visible to the caller. */
  readonly runKnown: boolean;
  /** The only project that the caller may see; null: every project of the organization. */
  readonly onlyProject: string | null;
  readonly idempotency: IdempotencyHashes | null;
  readonly report: RankReport;
  /** Distinct, in order. */
  readonly keys: readonly string[];
  readonly values: readonly number[];
  /** Returns the seconds until a compactor should look at a set that gets a row; null: the set gets no dirty marker. */
  readonly markerSeconds: (setId: number) => number | null;
};

const insertRankMetrics = sql(
  "ingest_append_rank_metrics",
  `SELECT outcome, inserted, run_project AS "projectId"
   FROM ingest.append_rank_metrics($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
);

/**
 * Stores a request with its idempotency record in one transaction: one round trip when this process has stored the same keys together before.
 * @throws idempotency_in_progress
 */
export async function appendRankMetrics(
  db: Db,
  layouts: RankLayouts,
  write: RankWrite,
  setsMax = SETS_MAX,
): Promise<WriteOutcome> {
  const { orgId, runId, keys } = write;
  const { worldSize } = write.report;
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

/** Assigns the keys their slots in the transaction that stores the values: a request that stores nothing leaves no key behind, and has no layout. */
async function insertNew(
  db: Db,
  write: RankWrite,
  setsMax: number,
): Promise<{ readonly outcome: WriteOutcome; readonly layout: RankLayout | null }> {
  const { orgId, runId, keys } = write;
  let refused: WriteOutcome | undefined;
  try {
    return await db.withTenant(orgId, async (tx) => {
      const source = { orgId, runId, worldSize: write.report.worldSize };
      const layout = layoutOf(await assignRankKeys(tx, source, keys, setsMax));
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
  const { report, idempotency } = write;
  const rows = packRows(layout, write.values);
  // Pages are never compacted.
  const markers = rows
    .filter(({ isPage }) => !isPage)
    .map(({ setId }) => ({ setId, seconds: write.markerSeconds(setId) }))
    .filter(({ seconds }) => seconds !== null);
  const outcome = await tx.one<WriteOutcome>(insertRankMetrics, [
    write.orgId,
    write.runId,
    write.runKnown,
    write.onlyProject,
    idempotency?.key ?? null,
    idempotency?.body ?? null,
    report.step,
    report.rank,
    report.localRank === report.rank ? null : report.localRank,
    report.weight === 1 ? null : report.weight,
    report.timestampUs,
    write.values.length,
    rows.map(({ setId }) => setId),
    rows.map(({ firstSlot }) => firstSlot),
    rows.map(({ isPage }) => isPage),
    byteaArray(rows.map(({ packed }) => packed)),
    markers.map(({ setId }) => setId),
    markers.map(({ seconds }) => seconds),
  ]);
  return outcome!;
}

/** The most sets of a run; further keys get pages. */
const SETS_MAX = 1024;

const assignKeys = sql(
  "ingest_assign_rank_keys",
  `SELECT set_id AS "setId", slot, is_page AS "isPage" FROM ingest.assign_rank_keys($1, $2, $3, $4, $5)`,
);

/** Returns the slots of keys in the order of the keys, and assigns missing ones. Other writers that assign slots of the run wait. */
export function assignRankKeys(
  tx: Tx,
  source: { readonly orgId: string; readonly runId: string; readonly worldSize: number },
  keys: readonly string[],
  setsMax = SETS_MAX,
): Promise<KeySlot[]> {
  return tx.rows(assignKeys, [source.orgId, source.runId, source.worldSize, textArray(keys), setsMax]);
}

/** A set of keys of a run that are reported together, in a world of one size. */
export type RankSetRef = { readonly orgId: string; readonly runId: string; readonly setId: number };

/** Which rows become one block. */
export type RankCompactionBounds = {
  /** Rows count once they have not been written for this long. */
  readonly restSeconds: number;
  /** Fewer rows than this are not compacted. */
  readonly entriesMin: number;
  /** The most rows of one block, not counting the other rows of its last step. */
  readonly entriesMax: number;
  /** Late rows are not compacted where this many blocks already cover their steps. */
  readonly overlapsMax: number;
};

const compactRows = sql(
  "ingest_compact_rank_rows",
  "SELECT ingest.compact_rank_rows($1, $2, $3, $4, $5, $6, $7, $8, $9) AS compacted",
);

const LOST = -1;

/**
 * Compacts rows of a set into one block, first the rows after all blocks, then late rows, and returns how many there were. One
 * transaction, which also prolongs the claim. Does nothing and returns `lost` when another process has the work. `db` runs as the worker.
 */
export async function compactRankRows(
  db: Db,
  set: RankSetRef,
  claim: Claim,
  bounds: RankCompactionBounds,
): Promise<number | "lost"> {
  const row = await db.one<{ compacted: number }>(compactRows, [
    set.orgId,
    set.runId,
    set.setId,
    claim.fence,
    claim.leaseSeconds,
    bounds.restSeconds,
    bounds.entriesMin,
    bounds.entriesMax,
    bounds.overlapsMax,
  ]);
  return row!.compacted === LOST ? "lost" : row!.compacted;
}

/** Returns about how many rows of rank metrics are not in blocks, across all organizations. Many of them stay rows, because their set has too few. */
export const countRankRows = rowCounterOf("rank_metric_rows");
