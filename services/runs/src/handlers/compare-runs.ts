import { badRequest, notFound } from "@tidemark/errors";
import { callerOf, isUuid } from "@tidemark/requests";
import { COMPARED_RUNS_MAX } from "../domain/comparison.ts";
import { encodeComparison } from "../encode/comparison.ts";
import type { RunsDeps, RunsHandlers } from "../handlers.ts";
import { listRunsById } from "../read/runs.sql.ts";
import { compareSections } from "../steps/compare-sections.ts";

/** Runs beside each other (API specification, GET /api/runs/side-by-side). @throws bad_request, not_found */
export function compareRuns({ db }: RunsDeps): RunsHandlers["compareRuns"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const ids = requireRunIds(request.runIds);
    return db.readTenant(orgId, async (tx) => {
      const runs = await listRunsById(tx, orgId, ids, projectId);
      if (runs.length < ids.length) throw notFound("run");
      const comparison = await compareSections(tx, orgId, runs, request);
      const reference = ids.find((id) => id === request.referenceRunId) ?? ids[0] ?? "";
      return encodeComparison(runs, reference, comparison);
    });
  };
}

function requireRunIds(runIds: readonly string[]): string[] {
  const ids = [...new Set(runIds)];
  if (ids.length < 1 || ids.length > COMPARED_RUNS_MAX) {
    throw badRequest(`run_ids must name 1 to ${COMPARED_RUNS_MAX} runs`, "run_ids");
  }
  if (!ids.every(isUuid)) throw badRequest("run_ids must be UUIDs", "run_ids");
  return ids;
}
