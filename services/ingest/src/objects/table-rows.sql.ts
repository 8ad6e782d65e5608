import { binarySql, sql, type Tx } from "@tidemark/pg";

/** The facts of an object that reading its rows requires. */
export type TableRef = {
  readonly runId: string;
  readonly projectId: string;
  readonly kind: string;
  readonly createdAt: string;
};

const findRef = sql(
  "ingest_find_table",
  `SELECT run_id AS "runId", project_id AS "projectId", kind, created_at AS "createdAt" FROM ingest.objects WHERE org_id = $1 AND id = $2`,
);

/** Returns the object with this id, if the organization has it. */
export function findTable(tx: Tx, orgId: string, objectId: number): Promise<TableRef | undefined> {
  return tx.one(findRef, [orgId, objectId]);
}

const readChunks = binarySql(
  "ingest_read_table_chunks",
  `SELECT c.rows FROM ingest.table_chunks c
   WHERE c.org_id = $1 AND c.object_id = $2 AND c.chunk BETWEEN $3 AND $4 ORDER BY c.chunk`,
);

/** Returns stored chunks of a table, from the first to the last number. */
export async function readTableChunks(
  tx: Tx,
  orgId: string,
  objectId: number,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<Buffer[]> {
  const rows = await tx.rows<{ rows: Buffer }>(readChunks, [orgId, objectId, first, last]);
  return rows.map(({ rows: bytes }) => bytes);
}
