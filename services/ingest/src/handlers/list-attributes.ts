import type { Db } from "@tidemark/pg";
import type { ListAttributesRequestSchema, ListAttributesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import { listAttributes } from "../store/list-attributes.ts";
import type { RunDirectory } from "../store/run-directory.ts";
import { attributeMessage } from "./attribute-message.ts";
import { callerOf, runIdOf, throwFault } from "./request.ts";

/** IngestReadService.ListAttributes. @throws not_found, bad_request */
export function listAttributesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof ListAttributesRequestSchema, typeof ListAttributesResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = runIdOf(request.runId);
    await runs.require(caller, [runId]);
    throwFault(request.queryFault);
    const { orgId } = caller;
    const { type, pathPrefix, limit, offset } = request;
    const records = await db.withTenant(orgId, (tx) =>
      listAttributes(tx, { orgId, runId, type, pathPrefix, limit, offset }),
    );
    return { attributes: records.map((record) => attributeMessage(orgId, runId, record)) };
  };
}
