import { sql, type Tx } from "@tidemark/pg";

const setSql = sql(
  "artifacts_set_alias",
  `INSERT INTO artifacts.aliases (org_id, collection_id, alias, version_id)
   SELECT DISTINCT $1::uuid, $2::uuid, a.alias, $4::uuid FROM unnest($3::text[]) AS a (alias)
   ON CONFLICT (org_id, collection_id, alias) DO UPDATE SET version_id = excluded.version_id`,
);

/** Points aliases of a collection at a version of it, no matter where they pointed before. The collection is locked. */
export async function moveAliases(
  tx: Tx,
  orgId: string,
  collectionId: string,
  aliases: readonly string[],
  versionId: string,
): Promise<void> {
  await tx.rows(setSql, [orgId, collectionId, aliases, versionId]);
}

const deleteSql = sql(
  "artifacts_delete_alias",
  "DELETE FROM artifacts.aliases WHERE org_id = $1 AND collection_id = $2 AND alias = $3",
);

/** Returns whether the collection had the alias. The collection is locked. */
export async function removeAlias(tx: Tx, orgId: string, collectionId: string, alias: string): Promise<boolean> {
  return (await tx.count(deleteSql, [orgId, collectionId, alias])) > 0;
}

const deleteOfVersionSql = sql(
  "artifacts_delete_aliases_of_version",
  "DELETE FROM artifacts.aliases WHERE org_id = $1 AND version_id = $2",
);

/** Removes all aliases of a version. Its collection is locked. */
export async function removeAliasesOf(tx: Tx, orgId: string, versionId: string): Promise<void> {
  await tx.rows(deleteOfVersionSql, [orgId, versionId]);
}

const touchSql = sql(
  "artifacts_touch_collection",
  "UPDATE artifacts.collections SET updated_at = clock_timestamp() WHERE org_id = $1 AND id = $2",
);

/** Notes that a collection has changed. */
export async function touchCollection(tx: Tx, orgId: string, collectionId: string): Promise<void> {
  await tx.rows(touchSql, [orgId, collectionId]);
}
