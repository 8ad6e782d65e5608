import { sql, type Tx } from "@tidemark/pg";

/** A file of a logged model. The hash has 32 bytes. */
export type ModelFileRow = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: Uint8Array;
  readonly mimeType: string;
  readonly objectId: string;
  readonly createdAt: string;
};

const columns = `o.path, o.size_bytes AS "sizeBytes", o.sha256, o.mime_type AS "mimeType", o.object_id AS "objectId",
  o.created_at AS "createdAt"`;

const findSql = sql(
  "artifacts_find_model_file",
  `SELECT ${columns} FROM artifacts.model_files o WHERE o.org_id = $1 AND o.model_id = $2 AND o.path = $3`,
);

/** Returns the file of a model with this path. */
export function findModelFile(tx: Tx, orgId: string, modelId: string, path: string): Promise<ModelFileRow | undefined> {
  return tx.one(findSql, [orgId, modelId, path]);
}

const insertSql = sql(
  "artifacts_insert_model_file",
  `WITH counted AS (UPDATE artifacts.models SET files = files + 1 WHERE org_id = $1 AND id = $2)
   INSERT INTO artifacts.model_files AS o (org_id, model_id, path, size_bytes, sha256, mime_type, object_id)
   VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${columns}`,
);

/** Stores a file of a model that the transaction has locked. */
export async function insertModelFile(
  tx: Tx,
  orgId: string,
  modelId: string,
  { path, sizeBytes, sha256, mimeType, objectId }: Omit<ModelFileRow, "createdAt">,
): Promise<ModelFileRow> {
  return (await tx.one<ModelFileRow>(insertSql, [orgId, modelId, path, sizeBytes, sha256, mimeType, objectId]))!;
}

// A folder's paths are between those that end with `/` and with the next character.
const inFolder = `o.org_id = $1 AND o.model_id = $2 AND ($3 = '' OR o.path >= $3 || '/' AND o.path < $3 || '0')`;

const listSql = sql(
  "artifacts_list_model_files",
  `SELECT ${columns} FROM artifacts.model_files o WHERE ${inFolder} ORDER BY o.path`,
);

/** Returns the files in a folder of a model, at any depth, by path; an empty folder means all. */
export function listFilesOfModel(tx: Tx, orgId: string, modelId: string, folder: string): Promise<ModelFileRow[]> {
  return tx.rows(listSql, [orgId, modelId, folder]);
}

const takeSql = sql(
  "artifacts_take_model_files",
  `WITH taken AS (
     DELETE FROM artifacts.model_files o WHERE ${inFolder} OR o.org_id = $1 AND o.model_id = $2 AND o.path = $3 RETURNING ${columns}
   ), counted AS (
     UPDATE artifacts.models SET files = files - (SELECT count(*) FROM taken)::integer WHERE org_id = $1 AND id = $2
   )
   SELECT * FROM taken`,
);

/** Deletes a file or the files of a folder, of a model that the transaction has locked, and returns them; an empty path means all. */
export function takeModelFiles(tx: Tx, orgId: string, modelId: string, path: string): Promise<ModelFileRow[]> {
  return tx.rows(takeSql, [orgId, modelId, path]);
}
