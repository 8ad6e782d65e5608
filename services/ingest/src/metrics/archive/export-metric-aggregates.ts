import type { Db } from "@tidemark/pg";
import type {
  ExportMetricAggregatesRequestSchema,
  ExportMetricAggregatesResponseSchema,
} from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory } from "@tidemark/requests";
import type { StreamHandler } from "@tidemark/rpc";
import { pageMetricAggregates, type FIGURES } from "./metric-aggregates.sql.ts";

/** Keys of a page. */
const PAGE_KEYS = 5000;

/** IngestArchiveService.ExportMetricAggregates. @throws bad_request, not_found */
export function exportMetricAggregatesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportMetricAggregatesRequestSchema, typeof ExportMetricAggregatesResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    for (const runId of runIds) {
      for (let after = ""; ;) {
        const rows = await deps.db.readTenant(orgId, (tx) => pageMetricAggregates(tx, orgId, runId, after, PAGE_KEYS), {
          plans: "walks",
        });
        const last = rows.at(-1);
        if (last === undefined) break;
        const column = (figure: (typeof FIGURES)[number]): number[] => rows.map((row) => row[figure] ?? Number.NaN);
        yield {
          runId,
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
        if (rows.length < PAGE_KEYS) break;
        after = last.key;
      }
    }
  };
}
