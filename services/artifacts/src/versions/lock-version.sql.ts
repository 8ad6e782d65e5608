import { sql, type Tx } from "@tidemark/pg";
import { isAvailable } from "./versions.sql.ts";

const lockAvailableSql = sql(
  "artifacts_lock_available_version",
  `SELECT (${isAvailable}) AS available FROM artifacts.versions v WHERE v.org_id = $1 AND v.id = $2 FOR SHARE`,
);

/** Keeps a version from being deleted until the transaction ends. Returns whether it is available. */
export async function lockAvailable(tx: Tx, orgId: string, versionId: string): Promise<boolean> {
  const row = await tx.one<{ available: boolean }>(lockAvailableSql, [orgId, versionId]);
  return row?.available === true;
}

const lockCollectionSql = sql(
  "artifacts_lock_collection",
  "SELECT true FROM artifacts.collections WHERE org_id = $1 AND id = $2 FOR NO KEY UPDATE",
);

/**
 * Locks a collection until the transaction ends. Every change of its versions, aliases or counters does so first: all transactions lock the
 * collection, then versions, then objects, then the storage of the organization.
 */
export async function lockCollection(tx: Tx, orgId: string, collectionId: string): Promise<void> {
  await tx.rows(lockCollectionSql, [orgId, collectionId]);
}
