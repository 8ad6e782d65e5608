import { sql, type Db } from "@tidemark/pg";
import type { Stripe } from "../domain/metric-stripes.ts";
import type { RunOfOrg } from "./list-waiting-metric-rows.ts";

const listCrowded = sql(
  "ingest_crowded_metric_stripes",
  `SELECT first_key AS "firstKey", width FROM ingest.crowded_metric_stripes($1, $2, $3, $4, $5, $6)`,
);

/**
 * The next stripes of a run after one, or from the first, that have several blocks of less than `sealedPoints` points. Looks at all blocks of the
 * run. `db` runs as the worker.
 */
export function listCrowdedMetricStripes(
  db: Db,
  { orgId, runId }: RunOfOrg,
  after: Stripe | undefined,
  bounds: { readonly sealedPoints: number; readonly stripesMax: number },
): Promise<Stripe[]> {
  const from = [after?.firstKey ?? 0, after?.width ?? 0];
  return db.rows(listCrowded, [orgId, runId, bounds.sealedPoints, ...from, bounds.stripesMax]);
}
