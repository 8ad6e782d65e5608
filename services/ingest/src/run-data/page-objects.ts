import { badRequest } from "@tidemark/errors";
import { OBJECT_KINDS, OBJECTS_PAGE_ROWS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { PageObjectsRequestSchema, PageObjectsResponseSchema } from "@tidemark/proto/ingest/v1/run_data";
import { callerOf, pathId, requireLimit, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { encodeObject } from "../objects/encode-object.ts";
import { readObjects } from "../objects/objects.sql.ts";
import { takeBatch } from "../reads/page-weight.rules.ts";
import { weighObjectsFrom } from "./batches.sql.ts";
import { readPlaceCursor, writePlaceCursor } from "./place-cursor.ts";

/** IngestReadService.PageObjects. @throws not_found, bad_request */
export function pageObjectsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof PageObjectsRequestSchema, typeof PageObjectsResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const { kind } = request;
    if (!OBJECT_KINDS.some((known) => known === kind)) throw badRequest("kind must be one of objects", "kind");
    const limit = requireLimit(request.limit, OBJECTS_PAGE_ROWS.max);
    const { place } = readPlaceCursor(request.cursor);
    await runs.require(caller, [runId]);
    return db.readTenant(
      orgId,
      async (tx) => {
        const { rows, more } = takeBatch(await weighObjectsFrom(tx, orgId, { runId, kind }, place, limit + 1), limit);
        const ids = rows.map(({ id }) => id);
        const objects = ids.length === 0 ? [] : await readObjects(tx, orgId, ids);
        return {
          objects: objects.map((row) => encodeObject(orgId, row)),
          nextCursor: more ? writePlaceCursor(rows.at(-1)!) : "",
        };
      },
      { plans: "walks" },
    );
  };
}
