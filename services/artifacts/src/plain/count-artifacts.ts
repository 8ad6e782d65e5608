import { badRequest } from "@tidemark/errors";
import { RUNS_PAGE_ROWS } from "@tidemark/limits";
import { callerOf, pathId } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { countArtifactsOf } from "./artifacts.sql.ts";

/** ArtifactsService.CountArtifacts. @throws not_found, bad_request */
export function countArtifacts(deps: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["countArtifacts"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const runIds = request.runIds.map((runId) => pathId(runId, "run"));
    if (runIds.length > RUNS_PAGE_ROWS.max) throw badRequest(`at most ${RUNS_PAGE_ROWS.max} runs are counted at once`);
    await deps.runs.require(caller, runIds);
    return { counts: await deps.db.readTenant(caller.orgId, (tx) => countArtifactsOf(tx, caller.orgId, runIds)) };
  };
}
