import type { Db } from "@tidemark/pg";
import type {
  PageMetricAggregatesRequestSchema,
  PageMetricAggregatesResponseSchema,
} from "@tidemark/proto/ingest/v1/run_data";
import { callerOf, pathId, requireLimit, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { pageMetricAggregates, type FIGURES } from "./metric-aggregates.sql.ts";

/** The most keys of a page. */
const KEYS_MAX = 5000;

/** IngestReadService.PageMetricAggregates. @throws not_found, bad_request */
export function pageMetricAggregatesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof PageMetricAggregatesRequestSchema, typeof PageMetricAggregatesResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const limit = requireLimit(request.limit, KEYS_MAX);
    await runs.require(caller, [runId]);
    const rows = await db.readTenant(orgId, (tx) => pageMetricAggregates(tx, orgId, runId, request.after, limit), {
      plans: "walks",
    });
    const column = (figure: (typeof FIGURES)[number]): number[] => rows.map((row) => row[figure] ?? Number.NaN);
    return {
      keys: rows.map(({ key }) => key),
      count: column("count"),
      min: column("min"),
      max: column("max"),
      mean: column("mean"),
      variance: column("variance"),
      latest: column("latest"),
      latestStep: column("latest_step"),
      best: column("best"),
      bestStep: column("best_step"),
    };
  };
}
