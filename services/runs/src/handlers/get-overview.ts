import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { withRuns } from "../steps/with-runs.ts";
import { chooseRuns } from "../store/choose-runs.ts";
import { countMetricPoints } from "../store/count-metric-points.ts";
import { countRuns } from "../store/count-runs.ts";
import { bestOfRank } from "../store/run-orders.ts";

/**
 * Figures over the runs of a filter (API specification, GET /api/overview).
 * @throws run_search_invalid, run_search_too_broad
 */
export function getOverview(deps: RunsDeps): RunsHandlers["getOverview"] {
  return async ({ filter: message, metricKey }, call) => {
    const order = { sort: "metric-best", metricKey } as const;
    const read = await withRuns(deps, call, message, async (tx, orgId, filter) => ({
      counts: await countRuns(tx, orgId, filter),
      points: await countMetricPoints(tx, orgId, filter),
      best: (await chooseRuns(tx, orgId, { filter, order, start: { offset: 0 }, limit: 1, valuedOnly: true })).page[0],
    }));
    const { counts, points, best } = read;
    const rank = best?.values[0];
    return {
      totalRuns: BigInt(counts.total),
      activeRuns: BigInt(counts.running),
      failedRuns: BigInt(counts.failed),
      stoppingRuns: BigInt(counts.stopping),
      stoppedRuns: BigInt(counts.stopped),
      ...(rank === undefined ? {} : { bestValue: bestOfRank(metricKey, Number(rank)) }),
      metricPoints: BigInt(points),
    };
  };
}
