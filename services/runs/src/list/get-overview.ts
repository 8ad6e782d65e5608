import { callerOf } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { chooseRuns } from "./choose-runs.sql.ts";
import { countMetricPoints, countRuns } from "./run-counts.sql.ts";
import { bestOfSortValue } from "./run-orders.sql.ts";
import { withRuns } from "./with-runs.ts";

/**
 * Sums up the runs of a filter (API specification, GET /api/overview).
 * @throws run_search_invalid, run_search_too_broad
 */
export function getOverview(deps: RunsDeps): RunsHandlers["getOverview"] {
  return async ({ filter: message, metricKey }, call) => {
    const order = { sort: "metric-best", metricKey } as const;
    deps.sortKeys.ask(callerOf(call).orgId, message?.q, order);
    const read = await withRuns(deps, call, message, async (tx, orgId, filter) => ({
      counts: await countRuns(tx, orgId, filter),
      points: await countMetricPoints(tx, orgId, filter),
      best: (await chooseRuns(tx, orgId, { filter, order, start: { offset: 0 }, limit: 1, valuedOnly: true })).page[0],
    }));
    const { counts, points, best } = read;
    const sortValue = best?.values[0];
    return {
      totalRuns: BigInt(counts.total),
      activeRuns: BigInt(counts.running),
      failedRuns: BigInt(counts.failed),
      stoppingRuns: BigInt(counts.stopping),
      stoppedRuns: BigInt(counts.stopped),
      ...(sortValue === undefined ? {} : { bestValue: bestOfSortValue(metricKey, Number(sortValue)) }),
      metricPoints: BigInt(points),
    };
  };
}
