import { sql, type Tx } from "@tidemark/pg";

/** A collection in the form of an archive; instants are RFC 3339 texts, documents JSON texts. */
type RestoredCollection = {
  readonly id: string;
  readonly projectId: string;
  readonly type: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: string;
  readonly nextIndex: number;
  readonly createdAt: string;
  readonly updatedAt: string;
};

const insertCollectionSql = sql(
  "artifacts_restore_collection",
  `INSERT INTO artifacts.collections (org_id, id, project_id, type, name, description, metadata, next_index, created_at, updated_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (org_id, project_id, type, name) DO NOTHING RETURNING id`,
);
const findCollectionSql = sql(
  "artifacts_find_restored_collection",
  "SELECT id FROM artifacts.collections WHERE org_id = $1 AND project_id = $2 AND type = $3 AND name = $4",
);

/** Makes a collection unless the project has one of this type and name. Returns its id, and whether it is new. */
export async function restoreCollectionRow(
  tx: Tx,
  orgId: string,
  row: RestoredCollection,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { id, projectId, type, name, description, metadata, nextIndex, createdAt, updatedAt } = row;
  const values = [orgId, id, projectId, type, name, description, metadata, nextIndex, createdAt, updatedAt];
  const made = await tx.one<{ id: string }>(insertCollectionSql, values);
  if (made !== undefined) return { id: made.id, isNew: true };
  const found = await tx.one<{ id: string }>(findCollectionSql, [orgId, projectId, type, name]);
  return { id: found!.id, isNew: false };
}
