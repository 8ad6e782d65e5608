import { notFound } from "@tidemark/errors";
import { BATCH_BYTES } from "@tidemark/limits";
import { callerOf } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { encodeRun } from "../read/encode-run.ts";
import { listRunsById } from "../read/runs.sql.ts";
import { listFittingRuns } from "./run-refs.sql.ts";
import { requireRunIds } from "./select-runs.ts";

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
