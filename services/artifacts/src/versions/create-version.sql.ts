import { sql, type Tx } from "@tidemark/pg";
import { addStorage } from "../storage/storage.sql.ts";

/** An entry of a new version. The hash is 64 hexadecimal digits; `objectId` is the object that keeps its bytes, null for references. */
export type NewEntry = {
  readonly id: string;
  readonly path: string;
  readonly kind: string;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly mimeType: string;
  readonly referenceUri: string | null;
  readonly objectId: string | null;
};

/** A version that is about to become visible. */
export type NewVersion = {
  readonly versionId: string;
  readonly collectionId: string;
  /** Of the collection and of the source run. */
  readonly projectId: string;
  /** 32 bytes over the manifest. */
  readonly digest: Uint8Array;
  readonly sourceRunId: string;
  readonly sourceStep: number | null;
  /** Days that it is kept; null: forever. */
  readonly ttlDays: number | null;
  readonly entries: readonly NewEntry[];
};

const createSql = sql(
  "artifacts_create_version",
  `WITH at AS MATERIALIZED (SELECT clock_timestamp() AS now), taken AS (
     UPDATE artifacts.collections c SET
       next_index = c.next_index + 1, versions_active = c.versions_active + 1, bytes_active = c.bytes_active + $9,
       updated_at = at.now
     FROM at WHERE c.org_id = $1 AND c.id = $3
     RETURNING c.next_index - 1 AS version_index, at.now
   ), made AS (
     INSERT INTO artifacts.versions (org_id, id, collection_id, project_id, version_index, digest, source_run_id, source_step,
                                     file_count, size_bytes, ttl_days, retention_mode, expires_at, created_at)
     SELECT $1, $2, $3, $4, t.version_index, $5, $6, $7, cardinality($10::uuid[]), $9, $8::integer,
            CASE WHEN $8::integer IS NULL THEN 'inherit' ELSE 'days' END, t.now + $8::integer * interval '1 day', t.now
     FROM taken t
   ), listed AS (
     INSERT INTO artifacts.entries (org_id, version_id, id, path, kind, size_bytes, sha256, mime_type, reference_uri, object_id)
     SELECT $1, $2, e.id, e.path, e.kind, e.size_bytes, decode(e.sha256, 'hex'), e.mime_type, e.reference_uri, e.object_id
     FROM unnest($10::uuid[], $11::text[], $12::text[], $13::bigint[], $14::text[], $15::text[],
                                    $16::text[], $17::uuid[])
       AS e (id, path, kind, size_bytes, sha256, mime_type, reference_uri, object_id)
   )
   SELECT 1 FROM taken`,
);

/**
 * Makes a version with its own data: its index, its entries, the counters of the collection and of the organization. Aliases and edges are the
 * caller's task. Its size is the size of the entries whose bytes are kept here. The objects were kept in this transaction (`keepObjects`), and the
 * collection was locked before them (`lockCollection`). Afterwards only the storage of the organization may be written.
 */
export async function createVersion(tx: Tx, orgId: string, version: NewVersion): Promise<void> {
  const { versionId, entries } = version;
  const bytes = entries.reduce((sum, { objectId, sizeBytes }) => sum + (objectId === null ? 0 : sizeBytes!), 0);
  const made = await tx.one(createSql, [
    orgId,
    versionId,
    version.collectionId,
    version.projectId,
    version.digest,
    version.sourceRunId,
    version.sourceStep,
    version.ttlDays,
    bytes,
    entries.map(({ id }) => id),
    entries.map(({ path }) => path),
    entries.map(({ kind }) => kind),
    entries.map(({ sizeBytes }) => sizeBytes),
    entries.map(({ sha256 }) => sha256),
    entries.map(({ mimeType }) => mimeType),
    entries.map(({ referenceUri }) => referenceUri),
    entries.map(({ objectId }) => objectId),
  ]);
  if (made === undefined) throw new Error("a version needs a collection");
  await addStorage(tx, orgId, { versionBytes: bytes, versionsActive: 1 });
}
