import { badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { RunFilter as FilterMessage } from "@tidemark/proto/runs/v1/runs";
import { callerOf, isUuid } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { RunsDeps } from "../deps.ts";
import { chooseRuns } from "../list/choose-runs.sql.ts";
import { withRuns } from "../list/with-runs.ts";
import { countVisibleRuns } from "../read/runs.sql.ts";

/** The named runs or, if none is named, the runs that pass a filter. */
type Chosen = { readonly runIds: readonly string[]; readonly filter?: FilterMessage | undefined };

/** Names the field of a request that chose the runs. */
export function fieldOfChoice({ runIds }: Chosen): "run_ids" | "filter" {
  return runIds.length > 0 ? "run_ids" : "filter";
}

/**
 * Does `work` in one snapshot on at most `max` runs: the named ones, in their order, or those that pass a filter, newest first.
 * @throws bad_request for more runs, for an id that is not a UUID or occurs twice, not_found when a named run is not visible, run_search_invalid,
 * run_search_too_broad
 */
export async function withChosenRuns<T>(
  deps: Pick<RunsDeps, "db" | "searchThreads" | "staleness">,
  call: Call,
  { runIds, filter: message }: Chosen,
  max: number,
  work: (tx: Tx, orgId: string, ids: readonly string[]) => Promise<T>,
): Promise<T> {
  const { orgId, projectId } = callerOf(call);
  if (runIds.length === 0) {
    return withRuns(deps, call, message, async (tx, _orgId, filter) => {
      const order = { sort: "created", metricKey: "" } as const;
      const { page } = await chooseRuns(tx, orgId, { filter, order, start: { offset: 0 }, limit: max + 1 });
      if (page.length > max) throw badRequest(`the filter lets more than ${max} runs through`, "filter");
      return work(
        tx,
        orgId,
        page.map(({ id }) => id),
      );
    });
  }
  if (runIds.length > max || new Set(runIds).size < runIds.length || !runIds.every(isUuid))
    throw badRequest(`run_ids must name at most ${max} different runs`, "run_ids");
  return deps.db.readTenant(orgId, async (tx) => {
    if ((await countVisibleRuns(tx, orgId, runIds, projectId)) < runIds.length) throw notFound("run");
    return work(tx, orgId, runIds);
  });
}
