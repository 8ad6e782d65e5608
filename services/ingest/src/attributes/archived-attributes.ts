import { streamPages, type Db } from "@tidemark/pg";
import type { ExportAttributesRequestSchema, ExportAttributesResponseSchema } from "@tidemark/proto/ingest/v1/archive";
import { exportedRuns, type RunDirectory, callerOf, pathId } from "@tidemark/requests";
import type { StreamHandler, Handler } from "@tidemark/rpc";
import { encodeAttribute } from "./attributes.ts";
import { findAttributeRuns, readAttributes, insertRestoredAttributes } from "./archived-attributes.sql.ts";
import type { ChangePublisher } from "@tidemark/bus";
import { badRequest } from "@tidemark/errors";
import { ATTRIBUTES_PAGE_ROWS } from "@tidemark/limits";
import { toBinary } from "@bufbuild/protobuf";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { AttributeSchema } from "@tidemark/proto/ingest/v1/ingest";
import type {
  RestoreAttributesRequestSchema,
  RestoreAttributesResponseSchema,
} from "@tidemark/proto/ingest/v1/restore";
import type { IdSource } from "../writes/writes.rules.ts";
import { withFreshIds } from "../writes/fresh-ids.sql.ts";
import { noteWrite, restoreOnce } from "../writes/write-steps.ts";

/** IngestArchiveService.ExportAttributes. @throws bad_request, not_found */
export function exportAttributesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
}): StreamHandler<typeof ExportAttributesRequestSchema, typeof ExportAttributesResponseSchema> {
  return async function* (request, call) {
    const { orgId, runIds } = await exportedRuns(deps.runs, request.runIds, call);
    yield* streamPages(deps.db, orgId, request.byPage, async function* (read) {
      for (const runId of await read((tx) => findAttributeRuns(tx, orgId, runIds))) {
        for await (const records of readAttributes(read, orgId, runId)) {
          yield { attributes: records.map((record) => encodeAttribute(orgId, runId, record)) };
        }
      }
    });
  };
}

const utf8 = new TextDecoder();

/** IngestRestoreService.RestoreAttributes. @throws see restore.proto */
export function restoreAttributesHandler(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly ids: IdSource;
  readonly noteChange: ChangePublisher["note"];
}): Handler<typeof RestoreAttributesRequestSchema, typeof RestoreAttributesResponseSchema> {
  const { db, runs, ids } = deps;
  return async ({ name, runId: run, attributes }, call) => {
    const caller = callerOf(call);
    const runId = pathId(run, "run");
    const projectId = await runs.projectOf(caller, runId);
    const { orgId } = caller;
    if (attributes.length < 1 || attributes.length > ATTRIBUTES_PAGE_ROWS.max) {
      throw badRequest(`attributes must have 1 to ${ATTRIBUTES_PAGE_ROWS.max} items`, "attributes");
    }
    const rows = attributes.map((attribute) => ({
      path: attribute.path,
      type: attribute.type,
      step: attribute.step,
      loggedAt: attribute.loggedAt,
      valueJson: utf8.decode(attribute.valueJson),
      summaryJson: utf8.decode(attribute.summaryJson),
      artifactId: attribute.artifactId,
      createdAt: attribute.createdAt,
    }));
    const parts = [runId, ...attributes.map((attribute) => toBinary(AttributeSchema, attribute))];
    await withFreshIds(() =>
      restoreOnce(db, { orgId, name, parts }, (tx) =>
        insertRestoredAttributes(tx, { orgId, runId, projectId, firstId: ids.take(rows.length), rows }),
      ),
    );
    noteWrite(deps, caller, { runId, kind: ChangeKind.OBJECTS });
    return {};
  };
}
