import { AppError, badRequest } from "@tidemark/errors";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { callerOf, requireLimit } from "@tidemark/requests";
import { LIST_METRIC_KEYS_MAX, PAGE_ROWS, RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { Call } from "@tidemark/rpc";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { projectOfFilter } from "../list/with-runs.ts";
import { countFittingRuns, pageTooHeavy } from "../list/page-weight.sql.ts";
import { encodeProject, encodeRunSummary } from "../read/encode-rows.ts";
import { readSummaries } from "../read/summaries.sql.ts";
import { seeDeleted } from "./hidden-rows.sql.ts";
import { listDeletedIds, listDeletedProjects } from "./marked-rows.sql.ts";

/** @throws forbidden unless the caller is an owner or admin who is signed in */
function requireAdmin({ identity }: Call): void {
  if (identity?.kind === CallerKind.SESSION && ["owner", "admin"].includes(identity.role)) return;
  throw new AppError("forbidden", "what is deleted is listed for owners and admins who are signed in", {
    field: "deleted",
  });
}

/** Lists runs that were deleted themselves and can be restored, the newest first. @throws forbidden, bad_request */
export async function listDeletedRuns(
  { db, staleness }: RunsDeps,
  ...[request, call]: Parameters<RunsHandlers["listRuns"]>
): Promise<Awaited<ReturnType<RunsHandlers["listRuns"]>>> {
  requireAdmin(call);
  const caller = callerOf(call);
  const { orgId } = caller;
  const { filter, order, offset } = request;
  const limit = requireLimit(request.limit, RUNS_PAGE_ROWS.max);
  if ((filter?.q ?? "") !== "") throw badRequest("deleted runs cannot be searched", "q");
  if (filter?.stale !== undefined) throw badRequest("deleted runs are not stale", "stale");
  if (!["", "created"].includes(order?.sortBy ?? ""))
    throw badRequest("deleted runs are listed by their creation", "sort_by");
  const rows = await db.readTenant(orgId, async (tx) => {
    const project = await projectOfFilter(tx, caller, filter);
    if (project === "none") return [];
    await seeDeleted(tx);
    const { status, displayStatus } = filter ?? {};
    const ids = await listDeletedIds(tx, orgId, { projectId: project.id, status, displayStatus, limit, offset });
    const fitting = await countFittingRuns(tx, orgId, ids);
    if (fitting < ids.length) throw pageTooHeavy(fitting);
    return readSummaries(tx, orgId, ids, LIST_METRIC_KEYS_MAX);
  });
  return { runs: rows.map((row) => encodeRunSummary(row, staleness)) };
}

/** Lists deleted projects by name. @throws forbidden, bad_request */
export async function listDeletedProjectsOf(
  { db }: RunsDeps,
  ...[request, call]: Parameters<RunsHandlers["listProjects"]>
): Promise<Awaited<ReturnType<RunsHandlers["listProjects"]>>> {
  requireAdmin(call);
  const { orgId } = callerOf(call);
  const page = { limit: requireLimit(request.limit, PAGE_ROWS.max), offset: request.offset };
  const { rows, total } = await db.readTenant(orgId, async (tx) => {
    await seeDeleted(tx);
    return listDeletedProjects(tx, orgId, page);
  });
  return { projects: rows.map(encodeProject), total: BigInt(total) };
}
