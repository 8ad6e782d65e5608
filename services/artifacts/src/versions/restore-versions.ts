import { type EdgeOfLine, type EntryOfLine, faultOfEdge, faultOfEntry } from "@tidemark/archive";
import { badRequest, notFound } from "@tidemark/errors";
import { ALIAS_SHAPE } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import type { ArtifactsRestoreService } from "@tidemark/proto/artifacts/v1/restore";
import { type Caller, callerOf, canSee, isUuid, pathId, requireRows } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import { requireCollection } from "../collections/list-collections.ts";
import type { ArtifactsDeps } from "../deps.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { lockCollection } from "./retention.sql.ts";
import {
  addRestoredAlias,
  findRestoredVersion,
  insertRestoredEdges,
  insertRestoredEntries,
  insertRestoredVersion,
  type RestoredEdge,
} from "./restored-versions.sql.ts";
import { wantBytes } from "../objects/wanted-bytes.sql.ts";

type VersionsHandlers = Pick<
  Handlers<(typeof ArtifactsRestoreService)["method"]>,
  "restoreVersions" | "restoreEntries" | "restoreEdges"
>;

/** Returns the RPCs of ArtifactsRestoreService for versions. All throw bad_request and not_found. */
export function restoreVersionsHandlers({ db, runs }: Pick<ArtifactsDeps, "db" | "runs">): VersionsHandlers {
  return {
    async restoreVersions({ versions }, call) {
      const caller = callerOf(call);
      const { orgId } = caller;
      requireRows(versions);
      const warnings = await db.withTenant(orgId, async (tx) => {
        const found: string[] = [];
        let change = { versionBytes: 0, versionsActive: 0, pendingDeleteBytes: 0, versionsPendingDelete: 0 };
        const ofCollections = Map.groupBy(versions, ({ collectionId }) => collectionId);
        for (const collectionId of [...ofCollections.keys()].toSorted()) {
          if (!isUuid(collectionId)) throw notFound("artifact collection");
          await requireCollection(tx, caller, collectionId);
          await lockCollection(tx, orgId, collectionId);
          for (const version of ofCollections.get(collectionId)!) {
            const row = {
              ...version,
              sourceStep: version.sourceStep ?? null,
              sizeBytes: Number(version.sizeBytes),
              ttlDays: version.ttlDays ?? null,
              expiresAt: version.expiresAt ?? null,
              deleteRequestedAt: version.deleteRequestedAt ?? null,
              deletedAt: version.deletedAt ?? null,
              purgeAfter: version.purgeAfter ?? null,
              purgedAt: version.purgedAt ?? null,
              auditReason: version.auditReason ?? null,
            };
            const index = await insertRestoredVersion(tx, orgId, row);
            if (index === undefined) continue;
            if (index !== row.versionIndex) found.push(`version v${row.versionIndex} ${row.id} became v${index}`);
            for (const alias of version.aliases) {
              if (!ALIAS_SHAPE.test(alias)) throw badRequest("an alias has a wrong form", "versions");
              if (await addRestoredAlias(tx, orgId, row, alias)) continue;
              found.push(`the alias ${JSON.stringify(alias)} stays with another version than v${index} ${row.id}`);
            }
            const isActive = row.state === "active";
            const isPending = !isActive && row.purgedAt === null;
            change = {
              versionBytes: change.versionBytes + (isActive ? row.sizeBytes : 0),
              versionsActive: change.versionsActive + (isActive ? 1 : 0),
              pendingDeleteBytes: change.pendingDeleteBytes + (isPending ? row.sizeBytes : 0),
              versionsPendingDelete: change.versionsPendingDelete + (isPending ? 1 : 0),
            };
          }
        }
        await addStorage(tx, orgId, change);
        return found;
      });
      return { warnings };
    },

    async restoreEntries({ archiveId, versionId, entries }, call) {
      const caller = callerOf(call);
      const { orgId } = caller;
      requireRows(entries);
      const rows = entries.map(({ id, path, kind, sizeBytes, sha256, mimeType, referenceUri }) => ({
        id,
        path,
        kind,
        size_bytes: sizeBytes === undefined ? undefined : Number(sizeBytes),
        sha256,
        mime_type: mimeType,
        reference_uri: referenceUri,
      }));
      refuse(rows.map((row) => faultOfEntry(row as EntryOfLine)));
      await db.withTenant(orgId, async (tx) => {
        const { projectId, isPurged } = await requireVersion(tx, caller, versionId);
        const made = new Set(await insertRestoredEntries(tx, orgId, versionId, rows));
        const wanted = rows.flatMap(({ id, sha256, size_bytes, reference_uri }) =>
          made.has(id) && sha256 !== undefined && size_bytes !== undefined && reference_uri === undefined && !isPurged
            ? [{ row_id: id, is_entry: true, project_id: projectId, sha256, size_bytes }]
            : [],
        );
        await wantBytes(tx, orgId, archiveId, wanted);
      });
      return {};
    },

    async restoreEdges({ versionId, edges }, call) {
      const caller = callerOf(call);
      const { orgId } = caller;
      requireRows(edges);
      refuse(
        edges.map((edge) => faultOfEdge({ ...edge, run_id: edge.runId, created_at: edge.createdAt } as EdgeOfLine)),
      );
      const rows: RestoredEdge[] = [];
      for (const { id, runId, direction, source, createdAt } of edges) {
        const project = await runs.projectOf(caller, pathId(runId, "run"));
        rows.push({ id, run_id: runId, direction, source, project_id: project, created_at: createdAt });
      }
      await db.withTenant(orgId, async (tx) => {
        await requireVersion(tx, caller, versionId);
        await insertRestoredEdges(tx, orgId, versionId, rows);
      });
      return {};
    },
  };
}

/** @throws bad_request for the first fault */
function refuse(faults: readonly (string | undefined)[]): void {
  const fault = faults.find((one) => one !== undefined);
  if (fault !== undefined) throw badRequest(fault);
}

async function requireVersion(tx: Tx, caller: Caller, id: string) {
  const version = isUuid(id) ? await findRestoredVersion(tx, caller.orgId, id) : undefined;
  if (version === undefined || !canSee(caller, { orgId: caller.orgId, projectId: version.projectId })) {
    throw notFound("artifact version");
  }
  return version;
}
