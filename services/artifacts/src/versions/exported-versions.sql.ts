import { sql, type Tx } from "@tidemark/pg";
import type { EdgeRow } from "./edges.sql.ts";

const FIRST_ID = "00000000-0000-0000-0000-000000000000";

/** Which versions: those of a project, or those that runs made or used; none of a project other than the caller's. */
export type VersionsOf =
  | { readonly projectId: string }
  | { readonly runIds: readonly string[]; readonly onlyProject: string | undefined };

/** A stored collection; instants are RFC 3339 texts, metadata a JSON text. */
export type StoredCollection = {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly type: string;
  readonly description: string | null;
  readonly metadata: string;
  readonly nextIndex: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

const collectionColumns = `c.id, c.project_id AS "projectId", c.name, c.type, c.description, c.metadata, c.next_index AS "nextIndex",
  c.created_at AS "createdAt", c.updated_at AS "updatedAt"`;

const listOfProject = sql(
  "artifacts_export_collections",
  `SELECT ${collectionColumns} FROM artifacts.collections c
   WHERE c.org_id = $1 AND c.project_id = $2 AND (c.type, c.name) > ($3, $4) ORDER BY c.type, c.name LIMIT 200`,
);

const listOfRuns = sql(
  "artifacts_export_collections_of_runs",
  `SELECT ${collectionColumns}
   FROM (SELECT DISTINCT v.collection_id AS id FROM unnest($2::uuid[]) AS w (id)
         CROSS JOIN LATERAL (SELECT e.version_id FROM artifacts.edges e WHERE e.org_id = $1 AND e.run_id = w.id OFFSET 0) e
         CROSS JOIN LATERAL (SELECT f.collection_id FROM artifacts.versions f
                             WHERE f.org_id = $1 AND f.id = e.version_id AND ($3::uuid IS NULL OR f.project_id = $3) OFFSET 0) v) d
   CROSS JOIN LATERAL (SELECT f.* FROM artifacts.collections f WHERE f.org_id = $1 AND f.id = d.id OFFSET 0) c
   ORDER BY c.id`,
);

/** Reads the collections that have wanted versions. */
export async function* readCollections(
  tx: Tx,
  orgId: string,
  of: VersionsOf,
): AsyncGenerator<StoredCollection, void, undefined> {
  if ("runIds" in of) {
    yield* await tx.rows<StoredCollection>(listOfRuns, [orgId, of.runIds, of.onlyProject ?? null]);
    return;
  }
  let after = ["", ""];
  for (;;) {
    const rows = await tx.rows<StoredCollection>(listOfProject, [orgId, of.projectId, ...after]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = [last.type, last.name];
  }
}

/** A stored version; the digest is 64 hexadecimal digits. */
export type StoredVersion = {
  readonly id: string;
  readonly collectionId: string;
  readonly versionIndex: number;
  readonly digest: string;
  readonly sourceRunId: string;
  readonly sourceStep: number | null;
  readonly fileCount: number;
  readonly sizeBytes: number;
  readonly state: string;
  readonly aliases: readonly string[];
  readonly ttlDays: number | null;
  readonly retentionMode: string;
  readonly expiresAt: string | null;
  readonly deleteRequestedAt: string | null;
  readonly deletedAt: string | null;
  readonly purgeAfter: string | null;
  readonly purgedAt: string | null;
  readonly auditReason: string | null;
  readonly createdAt: string;
};

const versions = (name: string, wanted: string) =>
  sql(
    name,
    `SELECT v.id, v.collection_id AS "collectionId", v.version_index AS "versionIndex", encode(v.digest, 'hex') AS digest,
            v.source_run_id AS "sourceRunId", v.source_step AS "sourceStep", v.file_count AS "fileCount", v.size_bytes AS "sizeBytes",
            v.state, ARRAY(SELECT f.alias FROM artifacts.aliases f WHERE f.org_id = $1 AND f.version_id = v.id ORDER BY f.alias) AS aliases,
            v.ttl_days AS "ttlDays", v.retention_mode AS "retentionMode", v.expires_at AS "expiresAt",
            v.delete_requested_at AS "deleteRequestedAt", v.deleted_at AS "deletedAt", v.purge_after AS "purgeAfter",
            v.purged_at AS "purgedAt", v.audit_reason AS "auditReason", v.created_at AS "createdAt"
     FROM artifacts.versions v
     WHERE v.org_id = $1 AND v.collection_id = $2 AND v.version_index > $3 AND ${wanted}
     ORDER BY v.version_index LIMIT 200`,
  );
const listVersions = versions("artifacts_export_versions", "$4::uuid[] IS NULL");
const listVersionsOfRuns = versions(
  "artifacts_export_versions_of_runs",
  `EXISTS (SELECT 1 FROM unnest($4::uuid[]) AS w (id) CROSS JOIN LATERAL (
     SELECT 1 FROM artifacts.edges e WHERE e.org_id = $1 AND e.run_id = w.id AND e.version_id = v.id OFFSET 0) x)`,
);

/** Reads the wanted versions of a collection by their index. */
export async function* readVersionsOf(
  tx: Tx,
  orgId: string,
  collectionId: string,
  of: VersionsOf,
): AsyncGenerator<StoredVersion, void, undefined> {
  const [statement, runIds] = "runIds" in of ? [listVersionsOfRuns, of.runIds] : [listVersions, null];
  let after = -1;
  for (;;) {
    const rows = await tx.rows<StoredVersion>(statement, [orgId, collectionId, after, runIds]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.versionIndex;
  }
}

const listEdges = sql(
  "artifacts_export_edges",
  `SELECT e.id, e.org_id AS "orgId", e.run_id AS "runId", e.version_id AS "versionId", e.direction, e.source, e.project_id AS "projectId",
          e.created_at AS "createdAt"
   FROM artifacts.edges e
   WHERE e.org_id = $1 AND e.version_id = $2 AND (e.created_at, e.id) > ($3::timestamptz, $4::uuid)
     AND ($5::uuid IS NULL OR e.project_id = $5) AND ($6::uuid[] IS NULL OR e.run_id = ANY ($6))
   ORDER BY e.created_at, e.id LIMIT 1000`,
);

/** Reads which of the exported runs made or used a version, in the order in which they did. */
export async function* readEdges(
  tx: Tx,
  orgId: string,
  versionId: string,
  of: VersionsOf,
): AsyncGenerator<EdgeRow[], void, undefined> {
  const wanted = "runIds" in of ? [null, of.runIds] : [of.projectId, null];
  let after = ["-infinity", FIRST_ID];
  for (;;) {
    const rows = await tx.rows<EdgeRow>(listEdges, [orgId, versionId, ...after, ...wanted]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = [last.createdAt, last.id];
  }
}
