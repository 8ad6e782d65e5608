import { sql, type Tx } from "@tidemark/pg";
import type { TextMap } from "../query/text-map.rules.ts";

/** A registered model as the statements return it. */
export type RegisteredRow = {
  readonly id: string;
  readonly name: string;
  /** Whose callers see it besides those of the whole organization; null: none yet. */
  readonly projectId: string | null;
  readonly description: string;
  readonly tags: TextMap;
  readonly createdAt: string;
  readonly updatedAt: string;
};

const columns = `r.id, r.name, r.project_id AS "projectId", r.description, r.tags::text AS tags, r.created_at AS "createdAt",
  r.updated_at AS "updatedAt"`;

type StoredRow = Omit<RegisteredRow, "tags"> & { readonly tags: string };

const readRow = ({ tags, ...row }: StoredRow): RegisteredRow => ({ ...row, tags: JSON.parse(tags) as TextMap });

const insertSql = sql(
  "artifacts_insert_registered_model",
  `INSERT INTO artifacts.registered_models AS r (org_id, id, name, project_id, description, tags)
   VALUES ($1, $2, $3, $4, $5, $6::jsonb) ON CONFLICT (org_id, name) DO NOTHING RETURNING ${columns}`,
);

/** Stores and returns a registered model; undefined when its name is taken. */
export async function insertRegistered(
  tx: Tx,
  orgId: string,
  { id, name, projectId, description, tags }: Omit<RegisteredRow, "createdAt" | "updatedAt">,
): Promise<RegisteredRow | undefined> {
  const values = [orgId, id, name, projectId, description, JSON.stringify(tags)];
  const row = await tx.one<StoredRow>(insertSql, values);
  return row && readRow(row);
}

const findSql = sql(
  "artifacts_find_registered_model",
  `SELECT ${columns} FROM artifacts.registered_models r WHERE r.org_id = $1 AND r.name = $2`,
);
const lockSql = sql(
  "artifacts_lock_registered_model",
  `SELECT ${columns} FROM artifacts.registered_models r WHERE r.org_id = $1 AND r.name = $2 FOR UPDATE`,
);

/** Returns the registered model of this name. */
export async function findRegistered(tx: Tx, orgId: string, name: string): Promise<RegisteredRow | undefined> {
  const row = await tx.one<StoredRow>(findSql, [orgId, name]);
  return row && readRow(row);
}

/** Returns the registered model of this name and locks it until the transaction ends, before collections. */
export async function lockRegistered(tx: Tx, orgId: string, name: string): Promise<RegisteredRow | undefined> {
  const row = await tx.one<StoredRow>(lockSql, [orgId, name]);
  return row && readRow(row);
}

const readSql = sql(
  "artifacts_read_registered_models",
  `SELECT ${columns} FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (id, ordinal)
   CROSS JOIN LATERAL (SELECT * FROM artifacts.registered_models o WHERE o.org_id = $1 AND o.id = asked.id OFFSET 0) r
   ORDER BY asked.ordinal`,
);

/** Returns registered models in the order of their ids. */
export async function readRegistered(tx: Tx, orgId: string, ids: readonly string[]): Promise<RegisteredRow[]> {
  return ids.length === 0 ? [] : (await tx.rows<StoredRow>(readSql, [orgId, ids])).map(readRow);
}

const updateSql = sql(
  "artifacts_update_registered_model",
  `UPDATE artifacts.registered_models r SET name = $3, description = $4, tags = $5::jsonb, updated_at = clock_timestamp()
   WHERE r.org_id = $1 AND r.id = $2 AND ($3 = r.name OR NOT EXISTS (
     SELECT FROM artifacts.registered_models o WHERE o.org_id = $1 AND o.name = $3 OFFSET 0))
   RETURNING ${columns}`,
);

/** Changes a locked registered model; undefined when the new name is taken. */
export async function updateRegisteredRow(
  tx: Tx,
  orgId: string,
  { id, name, description, tags }: Pick<RegisteredRow, "id" | "name" | "description" | "tags">,
): Promise<RegisteredRow | undefined> {
  const row = await tx.one<StoredRow>(updateSql, [orgId, id, name, description, JSON.stringify(tags)]);
  return row && readRow(row);
}

const touchSql = sql(
  "artifacts_touch_registered_model",
  "UPDATE artifacts.registered_models SET updated_at = clock_timestamp() WHERE org_id = $1 AND id = $2",
);

/** Notes that a registered model has changed. */
export async function touchRegistered(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx.count(touchSql, [orgId, id]);
}

const deleteSql = sql(
  "artifacts_delete_registered_model",
  `WITH aliases AS (DELETE FROM artifacts.registered_aliases WHERE org_id = $1 AND registered_id = $2),
     versions AS (DELETE FROM artifacts.registered_versions WHERE org_id = $1 AND registered_id = $2)
   DELETE FROM artifacts.registered_models WHERE org_id = $1 AND id = $2`,
);

/** Deletes a locked registered model with its versions and aliases. */
export async function deleteRegisteredRow(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx.count(deleteSql, [orgId, id]);
}

/** An alias of a version of a registered model. */
export type AliasRow = { readonly registeredId: string; readonly alias: string; readonly number: number };

const aliasesSql = sql(
  "artifacts_list_registered_aliases",
  `SELECT a.registered_id AS "registeredId", a.alias, a.number FROM unnest($2::uuid[]) AS asked (id)
   CROSS JOIN LATERAL (
     SELECT * FROM artifacts.registered_aliases o WHERE o.org_id = $1 AND o.registered_id = asked.id OFFSET 0) a
   ORDER BY a.alias`,
);

/** Returns the aliases of registered models by name. */
export function listAliases(tx: Tx, orgId: string, registeredIds: readonly string[]): Promise<AliasRow[]> {
  return registeredIds.length === 0 ? Promise.resolve([]) : tx.rows(aliasesSql, [orgId, registeredIds]);
}

const setAliasSql = sql(
  "artifacts_set_registered_alias",
  `INSERT INTO artifacts.registered_aliases (org_id, registered_id, alias, number) VALUES ($1, $2, $3, $4)
   ON CONFLICT (org_id, registered_id, alias) DO UPDATE SET number = excluded.number`,
);
const takeAliasSql = sql(
  "artifacts_take_registered_alias",
  `DELETE FROM artifacts.registered_aliases WHERE org_id = $1 AND registered_id = $2 AND alias = $3`,
);
const findAliasSql = sql(
  "artifacts_find_registered_alias",
  "SELECT number FROM artifacts.registered_aliases WHERE org_id = $1 AND registered_id = $2 AND alias = $3",
);

/** Points an alias at a version. The registered model is locked. */
export async function putRegisteredAlias(
  tx: Tx,
  orgId: string,
  { registeredId, alias, number }: AliasRow,
): Promise<void> {
  await tx.count(setAliasSql, [orgId, registeredId, alias, number]);
}

/** Removes an alias, if it exists. The registered model is locked. */
export async function removeRegisteredAlias(tx: Tx, orgId: string, registeredId: string, alias: string): Promise<void> {
  await tx.count(takeAliasSql, [orgId, registeredId, alias]);
}

/** Returns the number that an alias points at. */
export async function findAliasNumber(
  tx: Tx,
  orgId: string,
  registeredId: string,
  alias: string,
): Promise<number | undefined> {
  return (await tx.one<{ number: number }>(findAliasSql, [orgId, registeredId, alias]))?.number;
}
