import { sql, type Tx } from "@tidemark/pg";

/** The content of a new collection. `metadata` is a JSON text. */
export type WantedCollection = {
  readonly id: string;
  readonly projectId: string;
  readonly type: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: string;
};

const insertCollection = sql(
  "artifacts_insert_collection",
  `INSERT INTO artifacts.collections (org_id, id, project_id, type, name, description, metadata)
   VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (org_id, project_id, type, name) DO NOTHING RETURNING id`,
);
const lockByName = sql(
  "artifacts_lock_collection_by_name",
  `SELECT id FROM artifacts.collections WHERE org_id = $1 AND project_id = $2 AND type = $3 AND name = $4 FOR UPDATE`,
);

/** Makes a collection unless the project has one of this type and name, and locks it. Returns its id, and whether it is new. */
export async function ensureCollection(
  tx: Tx,
  orgId: string,
  { id, projectId, type, name, description, metadata }: WantedCollection,
): Promise<{ id: string; isNew: boolean }> {
  const made = await tx.one<{ id: string }>(insertCollection, [
    orgId,
    id,
    projectId,
    type,
    name,
    description,
    metadata,
  ]);
  if (made !== undefined) return { id: made.id, isNew: true };
  const found = await tx.one<{ id: string }>(lockByName, [orgId, projectId, type, name]);
  return { id: found!.id, isNew: false };
}
