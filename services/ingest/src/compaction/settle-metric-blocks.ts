import type { Db } from "@tidemark/pg";
import { sealedPoints, type Stripe, type StripeRules } from "../domain/metric-stripes.ts";
import { listCrowdedMetricStripes } from "../store/list-crowded-metric-stripes.ts";
import type { RunOfOrg } from "../store/list-waiting-metric-rows.ts";
import { arrangeMetrics } from "./arrange-metrics.ts";
import type { MetricBlockStore } from "./metric-block-store.ts";

/** Stripes of one step. */
const STRIPES_MAX = 64;

/**
 * Joins the small blocks that remain of a run to which nothing more is expected to come. It may come all the same. Ends after the step in hand when
 * `isStopping`; `lost` when somebody else has the work by now.
 */
export async function settleBlocks(work: {
  readonly db: Db;
  readonly run: RunOfOrg;
  readonly store: MetricBlockStore;
  readonly rules: StripeRules;
  readonly turn: () => Promise<void>;
  readonly isStopping: () => boolean;
}): Promise<{ readonly blocks: number } | "lost"> {
  const { db, run, store, rules, turn, isStopping } = work;
  let blocks = 0;
  let after: Stripe | undefined;
  let untidy: readonly Stripe[] = [];
  while (!isStopping()) {
    if (untidy.length === 0) {
      const bounds = { sealedPoints: sealedPoints(rules), stripesMax: STRIPES_MAX };
      untidy = await listCrowdedMetricStripes(db, run, after, bounds);
      if (untidy.length === 0) break;
      after = untidy.at(-1);
    }
    const arrangement = { segmentIds: [], parts: [], untidy, effort: "best", isSettled: true } as const;
    const arranged = await arrangeMetrics(store, rules, arrangement, turn);
    if (arranged === "lost") return arranged;
    blocks += arranged.blocks;
    untidy = arranged.untidy;
  }
  return { blocks };
}
