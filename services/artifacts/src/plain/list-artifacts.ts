import { badRequest, notFound } from "@tidemark/errors";
import { ARTIFACTS_ROWS } from "@tidemark/limits";
import { callerOf, canSee, pathId, throwFault } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../handlers.ts";
import { findArtifact, listNewestArtifacts, weighNewestArtifacts } from "./artifacts.sql.ts";
import { encodeArtifact } from "./encode-artifact.ts";

/** What errors call a plain artifact. */
export const ARTIFACT = "artifact";

/** Most bytes of metadata and of other texts of a client's choice in one list. */
const LIST_BYTES_MAX = 16 * 1024 * 1024;

/**
 * ArtifactsService.ListArtifacts: the newest artifacts of a run.
 * @throws not_found, bad_request, also when so many have more than 16 MiB of metadata together
 */
export function listArtifacts(deps: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["listArtifacts"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    await deps.runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const limit = Math.min(request.limit || ARTIFACTS_ROWS.default, ARTIFACTS_ROWS.max);
    return deps.db.readTenant(
      orgId,
      async (tx) => {
        refuseHeavy(await weighNewestArtifacts(tx, orgId, runId, limit));
        const rows = await listNewestArtifacts(tx, orgId, runId, limit);
        return { artifacts: rows.map(encodeArtifact) };
      },
      { plans: "walks" },
    );
  };
}

function refuseHeavy(bytes: readonly number[]): void {
  let sum = 0;
  const fitting = bytes.findIndex((weight) => (sum += weight) > LIST_BYTES_MAX);
  if (fitting <= 0) return;
  throw badRequest(`these artifacts have more than 16 MiB of metadata; ask for at most ${fitting} at a time`, "limit");
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
