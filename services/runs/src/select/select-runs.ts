import { badRequest, notFound } from "@tidemark/errors";
import { BATCH_BYTES, RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { RunFilter as FilterMessage, SelectRunsRequest } from "@tidemark/proto/runs/v1/runs";
import { callerOf, isUuid, requireLimit, type Caller } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { chooseRuns } from "../list/choose-runs.sql.ts";
import { readOrder } from "../list/run-list.rules.ts";
import { withRuns } from "../list/with-runs.ts";
import { encodeProject, encodeRun } from "../read/encode-rows.ts";
import { listProjectsById, type ProjectRow } from "../projects/projects.sql.ts";
import { countVisibleRuns, listRunsById, listRefsById, type RefRow } from "../read/runs.sql.ts";
import { listFittingRuns } from "../list/page-weight.sql.ts";

type Selection = { readonly refs: readonly RefRow[]; readonly more: boolean; readonly projects: readonly ProjectRow[] };

/**
 * RunsService.SelectRuns: returns the runs that a request selects, without their documents.
 * @throws bad_request, not_found when a named run is not visible unless those are to be skipped, run_search_invalid, run_search_too_broad
 */
export function selectRuns(deps: RunsDeps): RunsHandlers["selectRuns"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { refs, more, projects } =
      request.runIds.length > 0 ? await selectNamed(deps, caller, request) : await selectFirst(deps, call, request);
    return {
      runs: refs.map(({ id, projectId }) => ({ runId: id, projectId })),
      more,
      projects: projects.map(encodeProject),
    };
  };
}

/** Returns the distinct ids, at most as many as a page has. @throws bad_request */
function requireRunIds(runIds: readonly string[]): readonly string[] {
  const { max } = RUNS_PAGE_ROWS;
  if (runIds.length < 1 || runIds.length > max || new Set(runIds).size < runIds.length || !runIds.every(isUuid))
    throw badRequest(`run_ids must name 1 to ${max} different runs`, "run_ids");
  return runIds;
}

function selectNamed(
  { db }: RunsDeps,
  { orgId, projectId }: Caller,
  { runIds, skipMissing }: Pick<SelectRunsRequest, "runIds" | "skipMissing">,
): Promise<Selection> {
  const ids = requireRunIds(runIds);
  return db.readTenant(orgId, async (tx) => {
    const refs = await listRefsById(tx, orgId, ids, projectId);
    if (refs.length < ids.length && !skipMissing) throw notFound("run");
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

/** RunsService.ReadRuns: as many of the first runs as fit in a response. @throws bad_request, not_found when the first one is not visible */
export function readRuns({ db, staleness }: RunsDeps): RunsHandlers["readRuns"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const ids = requireRunIds(request.runIds);
    const rows = await db.readTenant(orgId, async (tx) => {
      const fitting = await listFittingRuns(tx, orgId, ids, projectId, BATCH_BYTES);
      return listRunsById(tx, orgId, fitting, projectId);
    });
    // Runs are not deleted in between, and a caller who asks for invisible runs learns nothing.
    if (rows[0]?.id !== ids[0]) throw notFound("run");
    return { runs: rows.map((row) => encodeRun(row, staleness)) };
  };
}

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
