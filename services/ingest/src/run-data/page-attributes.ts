import { readCursor, writeCursor } from "@tidemark/cursors";
import { badRequest } from "@tidemark/errors";
import { ATTRIBUTES_PAGE_ROWS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import type { PageAttributesRequestSchema, PageAttributesResponseSchema } from "@tidemark/proto/ingest/v1/ingest";
import { callerOf, pathId, requireLimit, type RunDirectory } from "@tidemark/requests";
import type { Handler } from "@tidemark/rpc";
import { encodeAttribute } from "../attributes/attributes.ts";
import { takeBatch } from "../reads/page-weight.rules.ts";
import { readAttributes, weighAttributesFrom, type AttributePlace } from "./batches.sql.ts";

/** IngestReadService.PageAttributes. @throws not_found, bad_request */
export function pageAttributesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): Handler<typeof PageAttributesRequestSchema, typeof PageAttributesResponseSchema> {
  const { db, runs } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const runId = pathId(request.runId, "run");
    const limit = requireLimit(request.limit, ATTRIBUTES_PAGE_ROWS.max);
    const after = readPlace(request.cursor);
    await runs.require(caller, [runId]);
    return db.readTenant(
      orgId,
      async (tx) => {
        const { rows, more } = takeBatch(await weighAttributesFrom(tx, orgId, runId, after, limit + 1), limit);
        const ids = rows.map(({ id }) => id);
        const records = ids.length === 0 ? [] : await readAttributes(tx, orgId, ids);
        const last = rows.at(-1);
        return {
          attributes: records.map((record) => encodeAttribute(orgId, runId, record)),
          nextCursor: more && last !== undefined ? writeCursor([last.step, last.id]) : "",
        };
      },
      { plans: "walks" },
    );
  };
}

function readPlace(cursor: string): AttributePlace | undefined {
  if (cursor === "") return undefined;
  const [step, id] = readCursor(cursor, 2) ?? [];
  if ((step === null || Number.isFinite(step)) && Number.isSafeInteger(id))
    return { step: step as number | null, id: id as number };
  throw badRequest("cursor is not a cursor of this list", "cursor");
}
