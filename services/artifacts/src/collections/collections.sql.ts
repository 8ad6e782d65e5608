import { sql, type Tx } from "@tidemark/pg";
import { isAvailable, newestVersionOf } from "../versions/versions.sql.ts";

/** A collection as the statements return it: instants are RFC 3339 texts, metadata is a JSON text. Counters cover only versions that are available now. */
export type CollectionRow = {
  readonly id: string;
  readonly orgId: string;
  readonly projectId: string;
  readonly project: string;
  readonly name: string;
  readonly type: string;
  readonly description: string | null;
  readonly metadata: string;
  readonly versionsCount: number;
  readonly retainedBytes: number;
  readonly pendingDeleteBytes: number;
  readonly latestId: string | null;
  readonly bestId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
};

// The row counts versions past their end as active until the sweeper has run.
const collectionColumns = `c.id, c.org_id AS "orgId", c.project_id AS "projectId", p.name AS project, c.name, c.type, c.description,
  c.metadata, c.versions_active - x.versions AS "versionsCount", c.bytes_active - x.bytes AS "retainedBytes",
  c.bytes_pending_delete + x.bytes AS "pendingDeleteBytes", n.id AS "latestId", b.id AS "bestId", c.created_at AS "createdAt",
  c.updated_at AS "updatedAt"`;

const aroundCollection = `
  CROSS JOIN LATERAL (
    SELECT f.name FROM runs.project_refs_v1 f WHERE f.org_id = $1 AND f.id = c.project_id OFFSET 0) p
  CROSS JOIN LATERAL (
    SELECT count(*) AS versions, coalesce(sum(v.size_bytes), 0)::bigint AS bytes FROM artifacts.versions v
    WHERE v.org_id = $1 AND v.collection_id = c.id AND v.state = 'active' AND v.expires_at <= now() OFFSET 0) x
  LEFT JOIN LATERAL (${newestVersionOf("c.id")}) n ON true
  LEFT JOIN LATERAL (
    SELECT v.id FROM artifacts.aliases a CROSS JOIN LATERAL (
      SELECT * FROM artifacts.versions f WHERE f.org_id = $1 AND f.id = a.version_id OFFSET 0) v
    WHERE a.org_id = $1 AND a.collection_id = c.id AND a.alias = 'best' AND ${isAvailable} OFFSET 0) b ON true`;

const findSql = sql(
  "artifacts_find_collection",
  `SELECT ${collectionColumns} FROM artifacts.collections c ${aroundCollection} WHERE c.org_id = $1 AND c.id = $2`,
);

/** Returns the collection with this id, if it is in the organization. */
export function findCollection(tx: Tx, orgId: string, collectionId: string): Promise<CollectionRow | undefined> {
  return tx.one(findSql, [orgId, collectionId]);
}

const findOwnerSql = sql(
  "artifacts_find_owner_of_collection",
  `SELECT c.org_id AS "orgId", c.project_id AS "projectId" FROM artifacts.collections c
   CROSS JOIN LATERAL (SELECT FROM runs.project_refs_v1 f WHERE f.org_id = $1 AND f.id = c.project_id OFFSET 0) p
   WHERE c.org_id = $1 AND c.id = $2`,
);

/** Returns the owner of the collection with this id, if it is in the organization. */
export function findOwnerOfCollection(
  tx: Tx,
  orgId: string,
  collectionId: string,
): Promise<{ orgId: string; projectId: string } | undefined> {
  return tx.one(findOwnerSql, [orgId, collectionId]);
}

/** Which collections of an organization; empty texts mean all. */
type CollectionFilter = {
  readonly projectId: string | undefined;
  readonly type: string;
  /** Part of the name; ASCII case does not matter, no character has a special meaning. */
  readonly namePart: string;
};

const matching = `f.org_id = $1 AND ($2 = '' OR f.type = $2)
  AND ($3 = '' OR strpos(lower(f.name), lower($3 COLLATE "C")) > 0)`;

// The newest of an organization and those of a project are walks of different indexes.
const listSql = (name: string, owned: string) =>
  sql(
    name,
    `SELECT ${collectionColumns}
     FROM (SELECT f.* FROM artifacts.collections f WHERE ${matching} AND ${owned}
           ORDER BY f.updated_at DESC, f.id DESC LIMIT $4::bigint OFFSET $5::bigint) c
     ${aroundCollection}
     ORDER BY c.updated_at DESC, c.id DESC`,
  );
const listAllSql = listSql("artifacts_list_collections", "$6::uuid IS NULL");
const listOfProjectSql = listSql("artifacts_list_collections_of_project", "f.project_id = $6");

/** Returns a page of collections, the last changed first. */
export function listCollectionRows(
  tx: Tx,
  orgId: string,
  { projectId, type, namePart }: CollectionFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<CollectionRow[]> {
  const statement = projectId === undefined ? listAllSql : listOfProjectSql;
  return tx.rows(statement, [orgId, type, namePart, page.limit, page.offset, projectId ?? null]);
}

const countSql = (name: string, owned: string) =>
  sql(name, `SELECT count(*) AS total FROM artifacts.collections f WHERE ${matching} AND ${owned}`);
const countAllSql = countSql("artifacts_count_collections", "$4::uuid IS NULL");
const countOfProjectSql = countSql("artifacts_count_collections_of_project", "f.project_id = $4");

const countEverySql = sql(
  "artifacts_count_every_collection",
  "SELECT u.collections AS total FROM artifacts.usage_v1 u WHERE u.org_id = $1",
);

/** Returns the number of collections on all pages. For a whole organization it is read from the counters. */
export async function countCollections(
  tx: Tx,
  orgId: string,
  { projectId, type, namePart }: CollectionFilter,
): Promise<number> {
  if (projectId === undefined && type === "" && namePart === "") {
    return (await tx.one<{ total: number }>(countEverySql, [orgId]))?.total ?? 0;
  }
  const statement = projectId === undefined ? countAllSql : countOfProjectSql;
  const row = await tx.one<{ total: number }>(statement, [orgId, type, namePart, projectId ?? null]);
  return row!.total;
}

/** The content of a new collection. `metadata` is a JSON text. */
type WantedCollection = {
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

const findProject = sql(
  "artifacts_find_project_by_name",
  "SELECT id FROM runs.project_refs_v1 WHERE org_id = $1 AND name = $2",
);

/** Returns the id of the organization's project of this name. */
export async function findProjectByName(tx: Tx, orgId: string, name: string): Promise<string | undefined> {
  return (await tx.one<{ id: string }>(findProject, [orgId, name]))?.id;
}

const isLiveSql = sql(
  "artifacts_is_live_project",
  "SELECT true AS live FROM runs.project_refs_v1 WHERE org_id = $1 AND id = $2",
);

/** Returns whether the organization has a project that is not deleted. */
export async function isLiveProject(tx: Tx, orgId: string, projectId: string): Promise<boolean> {
  return (await tx.one(isLiveSql, [orgId, projectId])) !== undefined;
}

const findByName = sql(
  "artifacts_find_collections_by_name",
  `SELECT id FROM artifacts.collections
   WHERE org_id = $1 AND name = $2 AND ($3 = '' OR type = $3) AND ($4::uuid IS NULL OR project_id = $4) LIMIT 2`,
);

/** The conditions on a collection; an empty type and no project mean any. */
type CollectionName = {
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
