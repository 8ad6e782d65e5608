import { type Db, inBatches, type Removal, removeRows, type Tx } from "@tidemark/pg";
import { releaseObjects } from "../objects/objects.sql.ts";
import { dropModel } from "../models/models.ts";
import { nextModelOfProject, nextModelOfRun } from "../models/models.sql.ts";
import { forgetArtifact } from "../plain/artifacts.ts";
import { addStorage } from "../storage/storage.sql.ts";
import { failUpload } from "../uploads/upload-jobs.ts";
import { lockCollection } from "../versions/retention.sql.ts";
import {
  dropObjects,
  leaveProject,
  lockUploadsOfRun,
  measureRemovalOf,
  nextVersionOf,
  registryOfProject,
  removeCollections,
  removeRowsOfOrganization,
  removeStorageIfEmpty,
  removeUploads,
  restOfRun,
  takeArtifactsOfRun,
  takeVersion,
  wantedBytesOfProject,
} from "./removed-rows.sql.ts";
import { callerOf, readRemovalScope } from "@tidemark/requests";
import type { ArtifactsDeps, ArtifactsHandlers } from "../deps.ts";

/** Each one takes a few statements. */
const ARTIFACTS_MAX = 50;
const OBJECTS_MAX = 1000;

/**
 * Removes the plain artifacts of a run with their bytes, its uploads, its edges in lineages, and the models that it made, unless the registry has a
 * version of them; the models, versions and collections of a project whose runs are gone, and its versions in the registry; or everything of an
 * organization. The sweeper removes bytes that nothing needs any more. Versions that a run produced stay with their project.
 * Resolves to false while bytes of an organization are left. `db` runs as the service.
 */
export async function removeArtifacts(db: Db, { orgId, kind, id }: Removal): Promise<boolean> {
  if (kind === "organization") return removeOfOrganization(db, orgId);
  if (kind === "run") await removeOfRun(db, orgId, id);
  else await removeOfProject(db, orgId, id);
  return true;
}

async function removeOfRun(db: Db, orgId: string, runId: string): Promise<void> {
  await inBatches(ARTIFACTS_MAX, (rowsMax) =>
    db.withTenant(orgId, async (tx) => {
      const uploads = await lockUploadsOfRun(tx, orgId, runId, rowsMax);
      for (const { id, state } of uploads) if (isOpen(state)) await failUpload(tx, orgId, id, "the run was removed");
      await removeUploads(
        tx,
        orgId,
        uploads.map(({ id }) => id),
      );
      return uploads.length;
    }),
  );
  await inBatches(ARTIFACTS_MAX, (rowsMax) =>
    db.withTenant(orgId, async (tx) => {
      const artifacts = await takeArtifactsOfRun(tx, orgId, runId, rowsMax);
      for (const artifact of artifacts) await forgetArtifact(tx, artifact);
      return artifacts.length;
    }),
  );
  while (await db.withTenant(orgId, async (tx) => dropNext(tx, orgId, await nextModelOfRun(tx, orgId, runId))));
  for (const statement of restOfRun) await removeRows(db, orgId, { statement, values: [orgId, runId] });
}

function isOpen(state: string): boolean {
  return state === "uploading" || state === "completing" || state === "provider_completed";
}

/** Deletes a model that is locked, if there is one; returns whether there was. */
async function dropNext(tx: Tx, orgId: string, model: { readonly id: string } | undefined): Promise<boolean> {
  if (model !== undefined) await dropModel(tx, orgId, model.id);
  return model !== undefined;
}

async function removeOfProject(db: Db, orgId: string, projectId: string): Promise<void> {
  for (const statement of registryOfProject) await removeRows(db, orgId, { statement, values: [orgId, projectId] });
  await db.withTenant(orgId, (tx) => leaveProject(tx, orgId, projectId));
  while (await db.withTenant(orgId, async (tx) => dropNext(tx, orgId, await nextModelOfProject(tx, orgId, projectId))));
  while (await db.withTenant(orgId, (tx) => removeNextVersion(tx, orgId, projectId)));
  await db.withTenant(orgId, async (tx) => {
    const collections = await removeCollections(tx, orgId, projectId);
    await addStorage(tx, orgId, { collections: -collections });
  });
  await removeRows(db, orgId, { statement: wantedBytesOfProject, values: [orgId, projectId] });
}

/** Removes a version of a project; returns false when there is none. */
async function removeNextVersion(tx: Tx, orgId: string, projectId: string): Promise<boolean> {
  const next = await nextVersionOf(tx, orgId, projectId);
  if (next === undefined) return false;
  await lockCollection(tx, orgId, next.collectionId);
  const version = await takeVersion(tx, orgId, next.id);
  if (version === undefined) return true;
  const { sizeBytes, state, isPurged, objects } = version;
  const owed = objects.reduce((sum, { owedBytes }) => sum + owedBytes, 0);
  const settled = await releaseObjects(tx, orgId, objects);
  const isActive = state === "active";
  await addStorage(tx, orgId, {
    versionBytes: isActive ? -sizeBytes : 0,
    versionsActive: isActive ? -1 : 0,
    // The bytes that a deleted version owes have been counted since its deletion.
    pendingDeleteBytes: owed - settled - (isActive || isPurged ? 0 : sizeBytes),
    versionsPendingDelete: isActive || isPurged ? 0 : -1,
  });
  return true;
}

async function removeOfOrganization(db: Db, orgId: string): Promise<boolean> {
  await removeRowsOfOrganization(db, orgId);
  await inBatches(OBJECTS_MAX, (rowsMax) => db.withTenant(orgId, (tx) => dropObjects(tx, orgId, rowsMax)));
  return db.withTenant(orgId, (tx) => removeStorageIfEmpty(tx, orgId));
}

/** ArtifactsService.MeasureRemoval, at one moment. @throws not_found */
export function measureRemoval(deps: Pick<ArtifactsDeps, "db" | "runs">): ArtifactsHandlers["measureRemoval"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const scope = await readRemovalScope(deps.runs, caller, request);
    return deps.db.readTenant(caller.orgId, (tx) => measureRemovalOf(tx, caller.orgId, scope), { plans: "walks" });
  };
}
