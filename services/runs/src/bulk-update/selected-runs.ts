import { badRequest } from "@tidemark/errors";
import { BULK_UPDATE, RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { BulkUpdateRunsRequest } from "@tidemark/proto/runs/v1/runs";
import { isUuid, requireLimit, type Caller } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { RunsDeps } from "../deps.ts";
import { chooseRuns } from "../list/choose-runs.sql.ts";
import { readOrder } from "../list/run-list.rules.ts";
import { withRuns } from "../list/with-runs.ts";
import { listRefsById } from "../select/run-refs.sql.ts";

/**
 * Returns the distinct runs that a bulk update names, whether or not the caller may see them, or those that its filter finds.
 * @throws bad_request, also for a filter that finds too many; run_search_invalid, run_search_too_broad
 */
export async function selectedRuns(
  deps: RunsDeps,
  call: Call,
  { runIds, filter, order, limit, offset }: BulkUpdateRunsRequest,
): Promise<readonly string[]> {
  const { runsMax } = BULK_UPDATE;
  if (runIds.length > 0) {
    if (runIds.length > runsMax || !runIds.every(isUuid)) {
      throw badRequest(`run_ids must have 1 to ${runsMax} UUIDs`, "run_ids");
    }
    return [...new Set(runIds)];
  }
  const by = readOrder({
    sortBy: order?.sortBy ?? "",
    metricKey: order?.metricKey ?? "",
    sortDir: order?.sortDir ?? "",
  });
  const most = limit === undefined ? runsMax + 1 : requireLimit(limit, RUNS_PAGE_ROWS.max);
  const found = await withRuns(deps, call, filter, async (tx, orgId, passing) => {
    const start = { offset: Number(offset) };
    return (await chooseRuns(tx, orgId, { filter: passing, order: by, start, limit: most })).page;
  });
  if (found.length > runsMax) throw badRequest(`filter must let at most ${runsMax} runs through`, "filter");
  return found.map(({ id }) => id);
}

/** Returns the runs among `ids` that the caller may see. */
export async function visibleRuns(tx: Tx, caller: Caller, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const refs = await listRefsById(tx, caller.orgId, ids, caller.projectId);
  return new Set(refs.map(({ id }) => id));
}
