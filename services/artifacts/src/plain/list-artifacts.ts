import { notFound } from "@tidemark/errors";
import { ARTIFACTS_ROWS, PAGE_BYTES_MAX } from "@tidemark/limits";
import { callerOf, canSee, pathId, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { readArtifactPage } from "./artifact-page.ts";
import { findArtifact } from "./artifacts.sql.ts";

/** The name of a plain artifact in errors. */
export const ARTIFACT = "artifact";

/** ArtifactsService.ListArtifacts: a page of the artifacts of a run, newest first. @throws not_found, bad_request */
export function listArtifacts(deps: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["listArtifacts"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    await deps.runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const limit = Math.min(request.limit || ARTIFACTS_ROWS.default, ARTIFACTS_ROWS.max);
    return readArtifactPage(deps.db, { orgId, runId, cursor: request.cursor, limit, bytesMax: PAGE_BYTES_MAX });
  };
}

/** ArtifactsService.LocateArtifact. @throws not_found, also when the bytes are elsewhere */
export function locateArtifact({ db }: Pick<ArtifactsDeps, "db">): ArtifactsHandlers["locateArtifact"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const id = pathId(request.artifactId, ARTIFACT);
    const row = await db.readTenant(caller.orgId, (tx) => findArtifact(tx, caller.orgId, id));
    if (row === undefined || !canSee(caller, row) || row.objectId === null) throw notFound(ARTIFACT);
    return { objectId: row.objectId, sizeBytes: BigInt(row.sizeBytes!), mimeType: row.mimeType, name: row.name };
  };
}
