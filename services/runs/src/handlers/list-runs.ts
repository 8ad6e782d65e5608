import { requireLimit } from "@tidemark/requests";
import { pageTooHeavy } from "../domain/page-weight.ts";
import { LIST_METRIC_KEYS_MAX, requireSort, RUNS_LIMIT_MAX } from "../domain/run-list.ts";
import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { encodeRunSummary } from "../read/encode-run.ts";
import { readSummaries } from "../read/runs.sql.ts";
import { fittingRuns } from "../steps/fitting-runs.ts";
import { withRuns } from "../steps/with-runs.ts";
import { chooseRuns } from "../store/choose-runs.ts";

/**
 * A page of runs with their summaries (API specification, GET /runs).
 * @throws bad_request, run_search_invalid, run_search_too_broad
 */
export function listRuns(deps: RunsDeps): RunsHandlers["listRuns"] {
  return async (request, call) => {
    const order = { sort: requireSort(request.order?.sortBy ?? ""), metricKey: request.order?.metricKey ?? "" };
    const limit = requireLimit(request.limit, RUNS_LIMIT_MAX);
    const start = { offset: Number(request.offset) };
    const rows = await withRuns(deps, call, request.filter, async (tx, orgId, filter) => {
      const { page } = await chooseRuns(tx, orgId, { filter, order, start, limit });
      const fitting = await fittingRuns(tx, orgId, page);
      if (fitting < page.length) throw pageTooHeavy(fitting);
      return readSummaries(
        tx,
        orgId,
        page.map(({ id }) => id),
        LIST_METRIC_KEYS_MAX,
      );
    });
    return { runs: rows.map((row) => encodeRunSummary(row)) };
  };
}
