import { isMinimiseKey } from "@tidemark/metric-codec";
import { LIST_METRIC_KEYS_MAX, requireLimit, requireSort, RUNS_LIMIT_MAX } from "../domain/run-list.ts";
import { encodeRunSummary } from "../encode/run-summary.ts";
import { callerOf } from "../steps/caller.ts";
import { listRuns as readRuns } from "../store/list-runs.ts";
import type { RunsDeps, RunsHandlers } from "./deps.ts";

/** A page of runs with their summaries (API specification, GET /runs). @throws bad_request */
export function listRuns({ db }: RunsDeps): RunsHandlers["listRuns"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const list = {
      projectId,
      project: request.filter?.project,
      status: request.filter?.status,
      displayStatus: request.filter?.displayStatus,
      sort: requireSort(request.order?.sortBy ?? ""),
      metricKey: request.order?.metricKey ?? "",
      minimise: isMinimiseKey(request.order?.metricKey ?? ""),
      limit: requireLimit(request.limit, RUNS_LIMIT_MAX),
      offset: request.offset,
      metricKeysMax: LIST_METRIC_KEYS_MAX,
    };
    const rows = await db.withTenant(orgId, (tx) => readRuns(tx, orgId, list));
    return { runs: rows.map((row) => encodeRunSummary(row, { stopDetails: false, nextCursor: "" })) };
  };
}
