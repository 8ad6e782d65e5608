import { badRequest, notFound } from "@tidemark/errors";
import { inBatches } from "@tidemark/pg";
import { callerOf, pathId } from "@tidemark/requests";
import { readCursor, writeCursor } from "@tidemark/values";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";
import { requireShort } from "../query/text-map.rules.ts";
import { forgetArtifacts } from "./artifacts.ts";
import { findFile, spanOfFolder, spanOfName, takeArtifactsBetween, walkFolder } from "./files.sql.ts";

// The plain artifacts of a run by their names. The newest of a name counts.

const PATH_BYTES_MAX = 512;
const ITEMS_MAX = 1000;
const DELETED_TOGETHER = 200;

/** ArtifactsService.ListFolder. Files whose bytes are elsewhere are left out, so that a page may have fewer items than were asked for. @throws not_found, bad_request */
export function listFolder({ db, runs }: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["listFolder"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    const { limit, cursor } = request;
    const folder = requireShort(request.folder, PATH_BYTES_MAX, "folder");
    if (limit < 1 || limit > ITEMS_MAX)
      throw badRequest(`limit must be a whole number from 1 to ${ITEMS_MAX}`, "limit");
    const next = readPlace(cursor, folder);
    const rows = await db.readTenant(
      caller.orgId,
      (tx) => walkFolder(tx, caller.orgId, runId, { folder, next, limit }),
      { plans: "walks" },
    );
    const items = rows
      .filter(({ isFolder, objectId }) => isFolder || objectId !== null)
      .map(({ name, isFolder, sizeBytes }) =>
        isFolder ? { name, isFolder } : { name, sizeBytes: BigInt(sizeBytes!) },
      );
    return { items, nextCursor: rows.length < limit ? "" : writeCursor([rows.at(-1)!.next]) };
  };
}

/** Reads where a list of a folder goes on; undefined: at its beginning. @throws bad_request */
function readPlace(cursor: string, folder: string): string | undefined {
  if (cursor === "") return undefined;
  const [next] = readCursor(cursor, 1) ?? [];
  const [from] = spanOfFolder(folder);
  if (typeof next === "string" && next.startsWith(from) && !next.includes("\0")) return next;
  throw badRequest("cursor is not a cursor of this list", "cursor");
}

/** ArtifactsService.LocateFile. @throws not_found, also when the bytes are elsewhere */
export function locateFile({ db, runs }: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["locateFile"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    const row = await db.readTenant(caller.orgId, (tx) => findFile(tx, caller.orgId, runId, request.name), {
      plans: "walks",
    });
    if (row === undefined || row.objectId === null) throw notFound("file");
    return { objectId: row.objectId, sizeBytes: BigInt(row.sizeBytes!), mimeType: row.mimeType };
  };
}

/** ArtifactsService.DeleteFiles. @throws not_found, bad_request */
export function deleteFiles({ db, runs }: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["deleteFiles"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    const path = requireShort(request.path, PATH_BYTES_MAX, "path");
    let deleted = 0;
    for (const span of [spanOfName(path), spanOfFolder(path)]) {
      deleted += await inBatches(DELETED_TOGETHER, (rowsMax) =>
        db.withTenant(
          orgId,
          async (tx) => {
            const taken = await takeArtifactsBetween(tx, orgId, runId, span, rowsMax);
            await forgetArtifacts(tx, orgId, runId, taken);
            return taken.length;
          },
          { plans: "walks" },
        ),
      );
    }
    return { deleted };
  };
}
