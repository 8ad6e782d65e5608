import { isInstant, readCursor, writeCursor } from "@tidemark/cursors";
import { badRequest } from "@tidemark/errors";
import { ARTIFACTS_ROWS, BATCH_BYTES, RUNS_PAGE_ROWS } from "@tidemark/limits";
import { callerOf, isUuid, pathId, requireLimit } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../handlers.ts";
import { countArtifactsOf, readArtifacts, weighArtifactsFrom, type ArtifactPlace } from "./artifacts.sql.ts";
import { encodeArtifact } from "./encode-artifact.ts";

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

/** ArtifactsService.PageArtifacts. @throws not_found, bad_request */
export function pageArtifacts(deps: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["pageArtifacts"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const limit = requireLimit(request.limit, ARTIFACTS_ROWS.max);
    const after = readPlace(request.cursor);
    await deps.runs.require(caller, [runId]);
    return deps.db.readTenant(
      orgId,
      async (tx) => {
        const weighed = await weighArtifactsFrom(tx, orgId, runId, after, limit + 1);
        const page = weighed.slice(0, countFitting(weighed.slice(0, limit)));
        const last = page.at(-1);
        const rows = await readArtifacts(
          tx,
          orgId,
          page.map(({ id }) => id),
        );
        return {
          artifacts: rows.map(encodeArtifact),
          nextCursor:
            last === undefined || page.length === weighed.length ? "" : writeCursor([last.createdAt, last.id]),
        };
      },
      { plans: "walks" },
    );
  };
}

const FIRST: ArtifactPlace = { createdAt: "infinity", id: "ffffffff-ffff-ffff-ffff-ffffffffffff" };

function readPlace(cursor: string): ArtifactPlace {
  if (cursor === "") return FIRST;
  const [createdAt, id] = readCursor(cursor, 2) ?? [];
  if (isInstant(createdAt) && typeof id === "string" && isUuid(id)) return { createdAt, id };
  throw badRequest("cursor is not a cursor of this list", "cursor");
}

/** Returns how many of the rows fit a batch, and at least one. */
function countFitting(rows: readonly { readonly bytes: number }[]): number {
  let sum = 0;
  const beyond = rows.findIndex(({ bytes }) => (sum += bytes) > BATCH_BYTES);
  return beyond === -1 ? rows.length : Math.max(beyond, 1);
}
