import type { Db } from "@tidemark/pg";
import type {
  AppendAttributesRequestSchema,
  AppendAttributesResponseSchema,
  AttributeInput,
} from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import { runNotFound } from "../domain/caller.ts";
import type { IdSource } from "../domain/id-source.ts";
import { appendAttributes, type AttributeRow } from "../store/append-attributes.ts";
import type { RunDirectory } from "../store/run-directory.ts";
import { attributeMessage } from "./attribute-message.ts";
import { callerOf, refuseFaultyBody, runIdOf } from "./request.ts";

/** IngestService.AppendAttributes. @throws not_found, bad_request */
export function appendAttributesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly ids: IdSource;
}): Handler<typeof AppendAttributesRequestSchema, typeof AppendAttributesResponseSchema> {
  const { db, runs, ids } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const runId = runIdOf(request.runId);
    await refuseFaultyBody(request.bodyFault, runs, caller, runId);
    if (request.attributes.length === 0) {
      await runs.require(caller, [runId]);
      return { attributes: [] };
    }
    const rows = request.attributes.map(rowOf);
    const stored = await appendAttributes(db, {
      orgId: caller.orgId,
      runId,
      runKnown: runs.knows(caller, runId),
      onlyProject: caller.projectId,
      takeIds: ids.take,
      attributes: rows,
    });
    if (stored.outcome === "not_found") throw runNotFound();
    const { firstId, createdAt, projectId } = stored;
    if (projectId !== null) runs.learn(runId, { orgId: caller.orgId, projectId });
    return {
      attributes: rows.map((row, i) =>
        attributeMessage(caller.orgId, runId, {
          ...row,
          id: firstId + i,
          step: row.step ?? null,
          loggedAt: row.loggedAt || createdAt,
          createdAt,
        }),
      ),
    };
  };
}

const decoder = new TextDecoder();

function rowOf(input: AttributeInput): AttributeRow {
  return {
    path: input.path,
    type: input.type,
    step: input.step,
    loggedAt: input.loggedAt,
    valueJson: decoder.decode(input.valueJson),
    summaryJson: decoder.decode(input.summaryJson),
  };
}
