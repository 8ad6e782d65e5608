import { OBJECT_KINDS, OBJECTS_PAGE_ROWS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { ListObjectsRequestSchema, ListObjectsResponseSchema } from "@tidemark/proto/ingest/v1/objects";
import { callerOf, pathId, requireLimit, throwFault, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { mapInTurns } from "@tidemark/work";
import { refuseHeavyPage } from "../reads/page-weight.rules.ts";
import { encodeObject } from "./encode-object.ts";
import { readObjects, weighObjects } from "./objects.sql.ts";

/** IngestReadService.ListObjects. @throws not_found, then bad_request, also when this many have more than 16 MiB together */
export function listObjectsHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListObjectsRequestSchema, typeof ListObjectsResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const { kind, key, offset } = request;
    const limit = requireLimit(request.limit, OBJECTS_PAGE_ROWS.max);
    const kinds = kind === "" ? OBJECT_KINDS : [kind];
    const rows = await db.readTenant(
      orgId,
      async (tx) => {
        const page = await weighObjects(tx, { orgId, runId, kinds, key, limit, offset });
        refuseHeavyPage(
          page.map(({ bytes }) => bytes),
          "objects",
        );
        return page.length === 0
          ? []
          : readObjects(
              tx,
              orgId,
              page.map(({ id }) => id),
            );
      },
      { plans: "walks" },
    );
    return { objects: await mapInTurns(rows, (row) => encodeObject(orgId, row)) };
  };
}
