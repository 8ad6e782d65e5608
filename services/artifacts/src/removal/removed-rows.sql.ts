import { organizationRemover, removalSql, sql, type Statement, type Tx } from "@tidemark/pg";
import { artifactColumns, type ArtifactRow } from "../plain/artifacts.sql.ts";

const takeArtifactsSql = sql(
  "artifacts_take_artifacts_of_run",
  `DELETE FROM artifacts.artifacts a WHERE a.org_id = $1 AND a.id = ANY (ARRAY(
     SELECT o.id FROM artifacts.artifacts o WHERE o.org_id = $1 AND o.run_id = $2 ORDER BY o.id LIMIT $3::bigint))
   RETURNING ${artifactColumns}`,
);

/** Deletes at most `rowsMax` plain artifacts of a run, and returns their last state. */
export function takeArtifactsOfRun(tx: Tx, orgId: string, runId: string, rowsMax: number): Promise<ArtifactRow[]> {
  return tx.rows(takeArtifactsSql, [orgId, runId, rowsMax]);
}

const sessionsSql = sql(
  "artifacts_lock_uploads_of_run",
  `SELECT id, state FROM artifacts.upload_sessions WHERE org_id = $1 AND run_id = $2 ORDER BY id LIMIT $3::bigint FOR UPDATE`,
);

/** Locks and returns at most `rowsMax` uploads for a run. */
export function lockUploadsOfRun(
  tx: Tx,
  orgId: string,
  runId: string,
  rowsMax: number,
): Promise<{ readonly id: string; readonly state: string }[]> {
  return tx.rows(sessionsSql, [orgId, runId, rowsMax]);
}

const removeSessionsSql = sql(
  "artifacts_remove_uploads",
  `WITH files AS (DELETE FROM artifacts.upload_files f WHERE f.org_id = $1 AND f.session_id = ANY ($2::uuid[]))
   DELETE FROM artifacts.upload_sessions WHERE org_id = $1 AND id = ANY ($2::uuid[])`,
);

/** Deletes uploads that have ended. */
export async function removeUploads(tx: Tx, orgId: string, ids: readonly string[]): Promise<void> {
  await tx.count(removeSessionsSql, [orgId, ids]);
}

/** The other rows of a run: its lineage, its counts, and the metrics that it logged for models. Values: the organization and the run. */
export const restOfRun: readonly Statement[] = ["edges", "run_counts", "model_metrics"].map((table) =>
  removalSql(`artifacts_remove_${table}_of_run`, `artifacts.${table}`, "org_id = $2 AND run_id = $3"),
);

const nextVersionSql = sql(
  "artifacts_next_version_of_project",
  `SELECT v.id, v.collection_id AS "collectionId" FROM artifacts.collections c
   CROSS JOIN LATERAL (
     SELECT o.id, o.collection_id FROM artifacts.versions o WHERE o.org_id = $1 AND o.collection_id = c.id LIMIT 1) v
   WHERE c.org_id = $1 AND c.project_id = $2 LIMIT 1`,
);

/** Returns a remaining version of a project. */
export function nextVersionOf(
  tx: Tx,
  orgId: string,
  projectId: string,
): Promise<{ readonly id: string; readonly collectionId: string } | undefined> {
  return tx.one(nextVersionSql, [orgId, projectId]);
}

const takeVersionSql = sql(
  "artifacts_take_version",
  `DELETE FROM artifacts.versions WHERE org_id = $1 AND id = $2
   RETURNING size_bytes AS "sizeBytes", state, purged_at IS NOT NULL AS "isPurged"`,
);
const takeEntriesSql = sql(
  "artifacts_take_entries",
  `DELETE FROM artifacts.entries WHERE org_id = $1 AND version_id = $2
   RETURNING object_id AS "objectId", coalesce(size_bytes, 0)::bigint AS "owedBytes"`,
);
const removeVersionLinksSql = sql(
  "artifacts_remove_version_links",
  `WITH edges AS (DELETE FROM artifacts.edges WHERE org_id = $1 AND version_id = $2)
   DELETE FROM artifacts.aliases WHERE org_id = $1 AND version_id = $2`,
);

/** A version that was deleted, and the objects of its files. */
type TakenVersion = {
  readonly sizeBytes: number;
  readonly state: "active" | "soft_deleted";
  readonly isPurged: boolean;
  readonly objects: readonly { readonly objectId: string; readonly owedBytes: number }[];
};

/** Deletes a version with its entries, aliases and lineage; undefined when it does not exist. The collection is locked. */
export async function takeVersion(tx: Tx, orgId: string, versionId: string): Promise<TakenVersion | undefined> {
  const version = await tx.one<Omit<TakenVersion, "objects">>(takeVersionSql, [orgId, versionId]);
  if (version === undefined) return undefined;
  const entries = await tx.rows<{ objectId: string | null; owedBytes: number }>(takeEntriesSql, [orgId, versionId]);
  await tx.count(removeVersionLinksSql, [orgId, versionId]);
  const objects = entries.flatMap(({ objectId, owedBytes }) => (objectId === null ? [] : [{ objectId, owedBytes }]));
  return { ...version, objects };
}

const removeCollectionsSql = sql(
  "artifacts_remove_collections_of_project",
  "DELETE FROM artifacts.collections WHERE org_id = $1 AND project_id = $2",
);

/** Deletes the collections of a project, which no longer have versions. Returns how many. */
export function removeCollections(tx: Tx, orgId: string, projectId: string): Promise<number> {
  return tx.count(removeCollectionsSql, [orgId, projectId]);
}

/** The bytes that restored archives of a project still wait for. Values: the organization and the project. */
export const wantedBytesOfProject = removalSql(
  "artifacts_remove_wanted_bytes",
  "artifacts.wanted_bytes",
  "org_id = $2 AND project_id = $3",
);

/** The versions of a project in the registry with their aliases, and its registered models without other versions. Values: the organization and the project. */
export const registryOfProject: readonly Statement[] = [
  removalSql(
    "artifacts_remove_aliases_of_project",
    "artifacts.registered_aliases",
    `org_id = $2 AND (registered_id, number) IN (
       SELECT v.registered_id, v.number FROM artifacts.registered_versions v WHERE v.org_id = $2 AND v.project_id = $3)`,
  ),
  removalSql(
    "artifacts_remove_registered_versions",
    "artifacts.registered_versions",
    "org_id = $2 AND project_id = $3",
  ),
  removalSql(
    "artifacts_remove_registered_models",
    "artifacts.registered_models r",
    `r.org_id = $2 AND r.project_id = $3 AND NOT EXISTS (
       SELECT FROM artifacts.registered_versions v WHERE v.org_id = $2 AND v.registered_id = r.id)`,
  ),
];

const leaveProjectSql = sql(
  "artifacts_leave_project",
  "UPDATE artifacts.registered_models SET project_id = NULL WHERE org_id = $1 AND project_id = $2",
);

/** Makes registered models with versions of other projects independent of a project. */
export async function leaveProject(tx: Tx, orgId: string, projectId: string): Promise<void> {
  await tx.count(leaveProjectSql, [orgId, projectId]);
}

/** Removes all rows of an organization except its objects, which are removed with their bytes. */
export const removeRowsOfOrganization = organizationRemover("artifacts", [
  "aliases",
  "artifacts",
  "edges",
  "entries",
  "versions",
  "collections",
  "model_files",
  "model_metrics",
  "models",
  "registered_aliases",
  "registered_versions",
  "registered_models",
  "run_counts",
  "upload_files",
  "upload_sessions",
  "wanted_bytes",
]);

const dropObjectsSql = sql(
  "artifacts_drop_objects_of_org",
  `UPDATE artifacts.objects SET state = 'unneeded', refs = 0, owed_bytes = 0, sweep_after = '-infinity'
   WHERE org_id = $1 AND id = ANY (ARRAY(
     SELECT id FROM artifacts.objects WHERE org_id = $1 AND (state = 'stored' OR sweep_after > now()) LIMIT $2::bigint))`,
);
const hasObjectsSql = sql("artifacts_has_objects", "SELECT true FROM artifacts.objects WHERE org_id = $1 LIMIT 1");
const removeStorageSql = sql("artifacts_remove_storage", "DELETE FROM artifacts.storage WHERE org_id = $1");

/** Leaves at most `rowsMax` objects of an organization to the next sweep. Returns how many. */
export function dropObjects(tx: Tx, orgId: string, rowsMax: number): Promise<number> {
  return tx.count(dropObjectsSql, [orgId, rowsMax]);
}

/** Returns whether the bytes of an organization are gone, and if so removes its counters. */
export async function removeStorageIfEmpty(tx: Tx, orgId: string): Promise<boolean> {
  if ((await tx.one(hasObjectsSql, [orgId])) !== undefined) return false;
  await tx.count(removeStorageSql, [orgId]);
  return true;
}

/** A run, all runs of a project, or with neither all runs of the organization. */
type RemovalScope = { readonly runId: string | undefined; readonly projectId: string | undefined };

const measure = (runs: string): string =>
  `SELECT coalesce(sum(a.rows), 0)::float8 AS artifacts, coalesce(sum(a.bytes), 0)::float8 AS bytes
   FROM (SELECT f.id FROM runs.run_refs_v1 f WHERE f.org_id = $1 AND ${runs}) r
   CROSS JOIN LATERAL (
     SELECT count(*) AS rows, sum(s.size_bytes) AS bytes FROM artifacts.artifacts s WHERE s.org_id = $1 AND s.run_id = r.id OFFSET 0) a`;

const ofRun = sql("artifacts_measure_removal_of_run", measure("f.id = $2"));
const ofProject = sql("artifacts_measure_removal_of_project", measure("f.project_id = $2"));
const ofOrganization = sql("artifacts_measure_removal_of_organization", measure("true"));

/** Plain artifacts of runs, and their bytes where known. */
type RemovalRow = { readonly artifacts: number; readonly bytes: number };

/** Returns what would be removed with the visible runs of a scope. */
export async function measureRemovalOf(tx: Tx, orgId: string, { runId, projectId }: RemovalScope): Promise<RemovalRow> {
  const [statement, id] =
    runId !== undefined ? [ofRun, runId] : projectId !== undefined ? [ofProject, projectId] : [ofOrganization];
  return (await tx.one<RemovalRow>(statement, id === undefined ? [orgId] : [orgId, id]))!;
}
