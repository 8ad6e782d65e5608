import { LIST_METRIC_KEYS_MAX } from "@tidemark/limits";
import { sql, type Tx } from "@tidemark/pg";
import { metricsOf } from "../metrics/aggregates.sql.ts";
import type { KeyCountsRow } from "./ranked-keys.rules.ts";
import { runOfId } from "./runs.sql.ts";

const keyCountsSql = sql(
  "runs_list_key_counts",
  `SELECT m.keys AS metric_keys, m.count AS metric_count
   FROM unnest($2::uuid[]) AS asked (id)
   ${runOfId("asked.id")}
   ${metricsOf({ limit: String(LIST_METRIC_KEYS_MAX) })}`,
);

/** Returns how many points the first 250 keys of each run have: all keys of runs that have thousands would cost too much. */
export function listKeyCounts(tx: Tx, orgId: string, ids: readonly string[]): Promise<KeyCountsRow[]> {
  return tx.rows(keyCountsSql, [orgId, ids]);
}
