import { compareKeyBytes } from "@tidemark/metric-codec";
import { requireLimit } from "@tidemark/requests";
import { LIST_METRIC_KEYS_MAX, requireSort, RUNS_LIMIT_MAX } from "../domain/run-list.ts";
import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { readRunCursor, writeRunCursor } from "../list/run-cursor.ts";
import { metricKeysOf } from "../metrics/aggregates.rules.ts";
import { encodeRunSummary } from "../read/encode-run.ts";
import { readSummaries } from "../read/runs.sql.ts";
import { fittingRuns } from "../steps/fitting-runs.ts";
import { withRuns } from "../steps/with-runs.ts";
import { chooseRuns } from "../store/choose-runs.ts";
import { countRuns } from "../store/count-runs.ts";

/**
 * A page of runs, how many there are in all, and how to go on (API specification, GET /api/runs/summary).
 * @throws bad_request, run_search_invalid, run_search_too_broad
 */
export function summarizeRuns(deps: RunsDeps): RunsHandlers["summarizeRuns"] {
  return async (request, call) => {
    const order = { sort: requireSort(request.order?.sortBy ?? ""), metricKey: request.order?.metricKey ?? "" };
    const limit = requireLimit(request.limit, RUNS_LIMIT_MAX);
    const start = request.cursor === "" ? { offset: Number(request.offset) } : readRunCursor(request.cursor, order);
    const metricKeysMax = request.selection ? 0 : LIST_METRIC_KEYS_MAX;
    const read = await withRuns(deps, call, request.filter, async (tx, orgId, filter) => {
      // One more, to know whether there is a next page.
      const choice = { filter, order, start, limit: limit + 1, counted: true };
      const { page: chosen, found } = await chooseRuns(tx, orgId, choice);
      const page = chosen.slice(0, await fittingRuns(tx, orgId, chosen.slice(0, limit)));
      const rows = await readSummaries(
        tx,
        orgId,
        page.map(({ id }) => id),
        metricKeysMax,
      );
      const total = found ?? (await countRuns(tx, orgId, filter)).total;
      return { rows, total, last: chosen.length > page.length ? page.at(-1) : undefined };
    });
    return {
      runs: read.rows.map((row) => encodeRunSummary(row)),
      metricKeys: [...new Set(read.rows.flatMap(metricKeysOf))]
        .toSorted(compareKeyBytes)
        .slice(0, LIST_METRIC_KEYS_MAX),
      total: BigInt(read.total),
      nextCursor: read.last === undefined ? "" : writeRunCursor(order, read.last),
    };
  };
}
