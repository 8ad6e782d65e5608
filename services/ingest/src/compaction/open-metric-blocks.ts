import type { Db } from "@tidemark/pg";
import { sealedPoints, type StripeRules } from "../domain/metric-stripes.ts";
import { listMetricBlockTails } from "../store/list-metric-block-tails.ts";
import type { RunOfOrg } from "../store/list-waiting-metric-rows.ts";
import { readMetricBlocks } from "../store/read-metric-blocks.ts";
import { replaceMetricBlocks } from "../store/replace-metric-blocks.ts";
import type { MetricBlockStore } from "./metric-block-store.ts";

/** The blocks of a run's metrics in the database, for whoever holds this claim. `db` runs as the worker. */
export function openMetricBlocks(
  db: Db,
  run: RunOfOrg,
  rules: StripeRules,
  claim: { readonly fence: string; readonly leaseSeconds: number },
): MetricBlockStore {
  return {
    tails: (firstKeys) => listMetricBlockTails(db, run, firstKeys, sealedPoints(rules)),
    read: (blocks) => readMetricBlocks(db, run, blocks),
    replace: (change) => replaceMetricBlocks(db, run, claim, change),
  };
}
