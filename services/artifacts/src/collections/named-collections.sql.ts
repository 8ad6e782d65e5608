import { sql, type Tx } from "@tidemark/pg";

const findProject = sql(
  "artifacts_find_project_by_name",
  "SELECT id FROM runs.project_refs_v1 WHERE org_id = $1 AND name = $2",
);

/** Returns the id of the organization's project of this name. */
export async function findProjectByName(tx: Tx, orgId: string, name: string): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findProject, [orgId, name]))?.id;
}

const findByName = sql(
  "artifacts_find_collections_by_name",
  `SELECT id FROM artifacts.collections
   WHERE org_id = $1 AND name = $2 AND ($3 = '' OR type = $3) AND ($4::uuid IS NULL OR project_id = $4) LIMIT 2`,
);

/** The conditions on a collection; an empty type and no project mean any. */
export type CollectionName = {
  readonly name: string;
  readonly type: string;
  readonly projectId: string | undefined;
};

/** Returns the ids of collections with exactly this name: all of them, or two if there are more. */
export async function findCollectionsByName(
  tx: Tx,
  orgId: string,
  { name, type, projectId }: CollectionName,
): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(findByName, [orgId, name, type, projectId ?? null]);
  return rows.map(({ id }) => id);
}
