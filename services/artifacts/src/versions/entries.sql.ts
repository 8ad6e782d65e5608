import { sql, type Tx } from "@tidemark/pg";

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
export type EntryPage = { readonly prefix: string; readonly limit: number; readonly offset: number };

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
