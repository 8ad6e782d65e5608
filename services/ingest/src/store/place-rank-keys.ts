import { sql, type Tx } from "@tidemark/pg";
import type { KeyPlace } from "../domain/rank-layout.ts";
import { textArray } from "../writes/binary-array.sql.ts";

/** So many sets a run has at most, before its keys get pages. */
export const SETS_MAX = 1024;

const placeKeys = sql(
  "ingest_place_rank_keys",
  `SELECT set_id AS "setId", slot, is_page AS "isPage" FROM ingest.place_rank_keys($1, $2, $3, $4, $5)`,
);

/** The places of keys in the order given; those that there are not yet are made. Others who make some for the run wait. */
export function placeRankKeys(
  tx: Tx,
  source: { readonly orgId: string; readonly runId: string; readonly worldSize: number },
  keys: readonly string[],
  setsMax: number,
): Promise<KeyPlace[]> {
  return tx.rows(placeKeys, [source.orgId, source.runId, source.worldSize, textArray(keys), setsMax]);
}
