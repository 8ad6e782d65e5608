import { toBinary } from "@bufbuild/protobuf";
import type { ChangePublisher } from "@tidemark/bus";
import { badRequest, notFound } from "@tidemark/errors";
import { PAGE_ROWS } from "@tidemark/limits";
import type { Db } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { RichObjectSchema } from "@tidemark/proto/ingest/v1/objects";
import type { IngestRestoreService } from "@tidemark/proto/ingest/v1/restore";
import { callerOf, isUuid, pathId, type Caller, type RunDirectory } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import { putRows, readTableEnd, requireRoom } from "./table-end.ts";
import type { IdSource } from "../writes/writes.rules.ts";
import { withFreshIds } from "../writes/fresh-ids.sql.ts";
import { noteWrite, restoreOnce } from "../writes/write-steps.ts";
import { findRestoredTable, forgetObjects, insertRestoredObjects } from "./restored-objects.sql.ts";

const utf8 = new TextDecoder();

type ObjectHandlers = Pick<
  Handlers<(typeof IngestRestoreService)["method"]>,
  "restoreObjects" | "restoreTableRows" | "forgetArchive"
>;

/** Returns the RPCs of IngestRestoreService that are about objects. @throws see restore.proto */
export function restoreObjectsHandlers(deps: {
  readonly db: Db;
  readonly runs: RunDirectory;
  readonly ids: IdSource;
  readonly noteChange: ChangePublisher["note"];
}): ObjectHandlers {
  const { db, runs, ids } = deps;
  return {
    async restoreObjects({ name, archiveId, runId: run, objects }, call) {
      const caller = callerOf(call);
      const runId = pathId(run, "run");
      const projectId = await runs.projectOf(caller, runId);
      const { orgId } = caller;
      requireArchive(archiveId);
      if (objects.length < 1 || objects.length > PAGE_ROWS.max) {
        throw badRequest(`objects must have 1 to ${PAGE_ROWS.max} items`, "objects");
      }
      const rows = objects.map((object) => ({
        oldId: object.id,
        key: object.key,
        kind: object.kind,
        step: object.step,
        artifactId: object.artifactId,
        valueJson: utf8.decode(object.valueJson),
        metadataJson: utf8.decode(object.metadataJson),
        summaryJson: utf8.decode(object.summaryJson),
        createdAt: object.createdAt,
      }));
      const parts = [runId, archiveId, ...objects.map((object) => toBinary(RichObjectSchema, object))];
      await withFreshIds(() =>
        restoreOnce(db, { orgId, name, parts }, (tx) =>
          insertRestoredObjects(tx, { orgId, archiveId, runId, projectId, firstId: ids.take(rows.length), rows }),
        ),
      );
      noteWrite(deps, caller, { runId, kind: ChangeKind.OBJECTS });
      return {};
    },

    async restoreTableRows({ name, archiveId, objectId, rows }, call) {
      const caller = callerOf(call);
      const { orgId } = caller;
      requireArchive(archiveId);
      if (rows.length < 1) throw badRequest("at least one row is needed", "rows");
      await restoreOnce(db, { orgId, name, parts: [archiveId, String(objectId), ...rows] }, async (tx) => {
        const table = await findRestoredTable(tx, { orgId, archiveId, oldId: objectId });
        if (table === undefined || !isOwn(caller, table.projectId)) throw notFound("object");
        const end = await readTableEnd(tx, orgId, table.id);
        requireRoom(end.rowCount + rows.length);
        await putRows(tx, orgId, table.id, end, rows);
      });
      return {};
    },

    async forgetArchive({ archiveId }, call) {
      const { orgId } = callerOf(call);
      requireArchive(archiveId);
      await db.withTenant(orgId, (tx) => forgetObjects(tx, orgId, archiveId));
      return {};
    },
  };
}

function requireArchive(id: string): void {
  if (!isUuid(id)) throw badRequest("archive_id must be a canonical UUID", "archive_id");
}

function isOwn({ projectId }: Caller, of: string): boolean {
  return projectId === undefined || projectId === of;
}
