import { badRequest, notFound } from "@tidemark/errors";
import { RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { SelectRunsRequest } from "@tidemark/proto/runs/v1/runs";
import { callerOf, isUuid, requireLimit, type Caller } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { chooseRuns } from "../list/choose-runs.sql.ts";
import { readOrder } from "../list/run-list.rules.ts";
import { withRuns } from "../list/with-runs.ts";
import { encodeProject } from "../projects/encode-project.ts";
import { listProjectsById, type ProjectRow } from "../projects/projects.sql.ts";
import { listRefsById, type RefRow } from "./run-refs.sql.ts";

type Selection = { readonly refs: readonly RefRow[]; readonly more: boolean; readonly projects: readonly ProjectRow[] };

/**
 * RunsService.SelectRuns: returns the runs that a request selects, without their documents.
 * @throws bad_request, not_found when a named run is not visible, run_search_invalid, run_search_too_broad
 */
export function selectRuns(deps: RunsDeps): RunsHandlers["selectRuns"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { refs, more, projects } =
      request.runIds.length > 0
        ? await selectNamed(deps, caller, request.runIds)
        : await selectFirst(deps, call, request);
    return {
      runs: refs.map(({ id, projectId }) => ({ runId: id, projectId })),
      more,
      projects: projects.map(encodeProject),
    };
  };
}

/** Returns the distinct ids, at most as many as a page has. @throws bad_request */
export function requireRunIds(runIds: readonly string[]): readonly string[] {
  const { max } = RUNS_PAGE_ROWS;
  if (runIds.length < 1 || runIds.length > max || new Set(runIds).size < runIds.length || !runIds.every(isUuid))
    throw badRequest(`run_ids must name 1 to ${max} different runs`, "run_ids");
  return runIds;
}

function selectNamed({ db }: RunsDeps, { orgId, projectId }: Caller, runIds: readonly string[]): Promise<Selection> {
  const ids = requireRunIds(runIds);
  return db.readTenant(orgId, async (tx) => {
    const refs = await listRefsById(tx, orgId, ids, projectId);
    if (refs.length < ids.length) throw notFound("run");
    return { refs, more: false, projects: await projectsOf(tx, orgId, refs) };
  });
}

function selectFirst(
  deps: RunsDeps,
  call: Call,
  { filter, order, limit: asked }: SelectRunsRequest,
): Promise<Selection> {
  const by = readOrder(order ?? { sortBy: "", metricKey: "", sortDir: "" });
  const limit = requireLimit(asked, RUNS_PAGE_ROWS.max);
  deps.sortKeys.ask(callerOf(call).orgId, filter?.q, by);
  return withRuns(deps, call, filter, async (tx, orgId, passing) => {
    // One more run shows whether there are more.
    const { page } = await chooseRuns(tx, orgId, {
      filter: passing,
      order: by,
      start: { offset: 0 },
      limit: limit + 1,
    });
    const ids = page.slice(0, limit).map(({ id }) => id);
    const refs = await listRefsById(tx, orgId, ids, undefined);
    return { refs, more: page.length > limit, projects: await projectsOf(tx, orgId, refs) };
  });
}

function projectsOf(tx: Tx, orgId: string, refs: readonly RefRow[]): Promise<ProjectRow[]> {
  return listProjectsById(tx, orgId, [...new Set(refs.map(({ projectId }) => projectId))]);
}
