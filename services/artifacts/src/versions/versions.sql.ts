import { sql, type Tx } from "@tidemark/pg";
import type { VersionSelector } from "./version-ref.rules.ts";

/** A version as the statements return it: instants are RFC 3339 texts, the digest is 64 hexadecimal digits. */
export type VersionRow = {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly collectionId: string;
  readonly name: string;
  readonly type: string;
  readonly versionIndex: number;
  /** What clients set, in no order. */
  readonly aliases: readonly string[];
  /** It is the available version of its collection with the highest index. */
  readonly latest: boolean;
  readonly digest: string;
  readonly sourceRunId: string;
  readonly sourceStep: number | null;
  readonly fileCount: number;
  readonly sizeBytes: number;
  readonly state: "active" | "soft_deleted";
  /** It is active and not past its end. */
  readonly available: boolean;
  readonly ttlDays: number | null;
  readonly retentionMode: string;
  readonly expiresAt: string | null;
  readonly deleteRequestedAt: string | null;
  readonly deletedAt: string | null;
  readonly auditReason: string | null;
  readonly createdAt: string;
};

/** Condition on `v`, a row of versions, for versions that clients may use. */
export const isAvailable = "v.state = 'active' AND (v.expires_at IS NULL OR v.expires_at > now())";

/** Look-up of the available version with the highest index of the collection that the expression names. */
export const newestVersionOf = (collectionId: string): string =>
  `SELECT v.id FROM artifacts.versions v
   WHERE v.org_id = $1 AND v.collection_id = ${collectionId} AND ${isAvailable}
   ORDER BY v.version_index DESC LIMIT 1`;

const readVersionsSql = sql(
  "artifacts_read_versions",
  `SELECT v.id, v.org_id AS "orgId", v.project_id AS "projectId", v.collection_id AS "collectionId", c.name, c.type,
          v.version_index AS "versionIndex", a.aliases, coalesce(n.id = v.id, false) AS latest,
          encode(v.digest, 'hex') AS digest, v.source_run_id AS "sourceRunId", v.source_step AS "sourceStep",
          v.file_count AS "fileCount", v.size_bytes AS "sizeBytes", v.state, (${isAvailable}) AS available,
          v.ttl_days AS "ttlDays", v.retention_mode AS "retentionMode", v.expires_at AS "expiresAt",
          v.delete_requested_at AS "deleteRequestedAt", v.deleted_at AS "deletedAt", v.audit_reason AS "auditReason",
          v.created_at AS "createdAt"
   FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
   CROSS JOIN LATERAL (SELECT * FROM artifacts.versions f WHERE f.org_id = $1 AND f.id = asked.id OFFSET 0) v
   CROSS JOIN LATERAL (
     SELECT f.id, f.name, f.type FROM artifacts.collections f WHERE f.org_id = $1 AND f.id = v.collection_id OFFSET 0) c
   CROSS JOIN LATERAL (SELECT FROM runs.project_refs_v1 f WHERE f.org_id = $1 AND f.id = v.project_id OFFSET 0) live
   CROSS JOIN LATERAL (
     SELECT ARRAY(SELECT f.alias FROM artifacts.aliases f WHERE f.org_id = $1 AND f.version_id = asked.id) AS aliases
     OFFSET 0) a
   LEFT JOIN LATERAL (${newestVersionOf("c.id")}) n ON true
   ORDER BY asked.ordinal`,
);

/** Returns the versions with these ids in their order, in any state, without those that the organization does not have. */
export function readVersions(tx: Tx, orgId: string, ids: readonly string[]): Promise<VersionRow[]> {
  return ids.length === 0 ? Promise.resolve([]) : tx.rows(readVersionsSql, [orgId, ids]);
}

const listAvailableSql = sql(
  "artifacts_list_available_versions",
  `SELECT v.id FROM artifacts.versions v
   WHERE v.org_id = $1 AND v.collection_id = $2 AND ${isAvailable}
   ORDER BY v.version_index DESC LIMIT $3::bigint OFFSET $4::bigint`,
);

/** Returns the ids of a page of a collection's available versions, newest first. */
export async function listAvailableVersions(
  tx: Tx,
  orgId: string,
  collectionId: string,
  page: { readonly limit: number; readonly offset: number },
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(listAvailableSql, [orgId, collectionId, page.limit, page.offset]);
  return rows.map(({ id }) => id);
}

const findNewestSql = sql("artifacts_find_newest_version", newestVersionOf("$2"));

const findByIndexSql = sql(
  "artifacts_find_version_by_index",
  `SELECT v.id FROM artifacts.versions v WHERE v.org_id = $1 AND v.collection_id = $2 AND v.version_index = $3`,
);

const findByAliasSql = sql(
  "artifacts_find_version_by_alias",
  "SELECT version_id AS id FROM artifacts.aliases WHERE org_id = $1 AND collection_id = $2 AND alias = $3",
);

/** Returns the id of the selected version; it need not be available. */
export async function selectVersion(
  tx: Tx,
  orgId: string,
  collectionId: string,
  selector: VersionSelector,
): Promise<string | undefined> {
  const find = (): Promise<{ id: string } | undefined> => {
    switch (selector.kind) {
      case "latest":
        return tx.one(findNewestSql, [orgId, collectionId]);
      case "index":
        return tx.one(findByIndexSql, [orgId, collectionId, selector.index]);
      case "alias":
        return tx.one(findByAliasSql, [orgId, collectionId, selector.alias]);
    }
  };
  return (await find())?.id;
}

/** An entry of a version as the statements return it; the hash is 64 hexadecimal digits. */
export type EntryRow = {
  readonly id: string;
  readonly versionId: string;
  readonly path: string;
  readonly kind: string;
  readonly sizeBytes: number | null;
  readonly sha256: string | null;
  readonly mimeType: string;
  readonly referenceUri: string | null;
  /** Null for references, and when the bytes are gone. */
  readonly objectId: string | null;
};

const entryColumns = `e.id, e.version_id AS "versionId", e.path, e.kind, e.size_bytes AS "sizeBytes",
  encode(e.sha256, 'hex') AS sha256, e.mime_type AS "mimeType", e.reference_uri AS "referenceUri", e.object_id AS "objectId"`;

// A path that begins with the prefix does not sort before it.
const ofPrefix = "e.org_id = $1 AND e.version_id = $2 AND e.path >= $3 AND starts_with(e.path, $3)";

const listEntriesSql = sql(
  "artifacts_list_entries",
  `SELECT ${entryColumns} FROM artifacts.entries e WHERE ${ofPrefix} ORDER BY e.path LIMIT $4::bigint OFFSET $5::bigint`,
);

/** Which entries of a version: those whose paths begin with `prefix`, taken literally. */
type EntryPage = { readonly prefix: string; readonly limit: number; readonly offset: number };

/** Returns a page of a version's entries by path, in the order of UTF-8 bytes. */
export function listEntryRows(tx: Tx, orgId: string, versionId: string, page: EntryPage): Promise<EntryRow[]> {
  return tx.rows(listEntriesSql, [orgId, versionId, page.prefix, page.limit, page.offset]);
}

const countEntriesSql = sql(
  "artifacts_count_entries",
  `SELECT count(*) AS total FROM artifacts.entries e WHERE ${ofPrefix}`,
);

/** Returns how many entries all pages have together; a version has at most 1,000. */
export async function countEntries(tx: Tx, orgId: string, versionId: string, prefix: string): Promise<number> {
  const row = await tx.one<{ total: number }>(countEntriesSql, [orgId, versionId, prefix]);
  return row!.total;
}

const findEntrySql = sql(
  "artifacts_find_entry",
  `SELECT ${entryColumns} FROM artifacts.entries e WHERE e.org_id = $1 AND e.id = $2`,
);

/** Returns the entry with this id, if it is in the organization. */
export function findEntry(tx: Tx, orgId: string, entryId: string): Promise<EntryRow | undefined> {
  return tx.one(findEntrySql, [orgId, entryId]);
}
