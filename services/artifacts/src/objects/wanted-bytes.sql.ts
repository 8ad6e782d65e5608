import { sql, type Tx } from "@tidemark/pg";
import { ofVisibleRun } from "../runs/run-refs.sql.ts";

/** A row that waits for bytes; the hash is 64 hexadecimal digits. */
export type WantedBytes = {
  readonly row_id: string;
  readonly is_entry: boolean;
  readonly project_id: string;
  readonly sha256: string;
  readonly size_bytes: number;
};

const insertSql = sql(
  "artifacts_want_bytes",
  `INSERT INTO artifacts.wanted_bytes (org_id, archive_id, sha256, row_id, is_entry, project_id, size_bytes)
   SELECT $1, $2, decode(r.sha256, 'hex'), r.row_id, r.is_entry, r.project_id, r.size_bytes
   FROM json_to_recordset($3::json) AS r (row_id uuid, is_entry boolean, project_id uuid, sha256 text, size_bytes bigint)
   ON CONFLICT DO NOTHING`,
);

/** Notes which rows of an archive wait for bytes. */
export async function wantBytes(tx: Tx, orgId: string, archiveId: string, rows: readonly WantedBytes[]): Promise<void> {
  if (rows.length > 0) await tx.rows(insertSql, [orgId, archiveId, JSON.stringify(rows)]);
}

const listSql = sql(
  "artifacts_list_wanted_bytes",
  `SELECT DISTINCT encode(w.sha256, 'hex') AS sha256 FROM artifacts.wanted_bytes w
   WHERE w.org_id = $1 AND w.archive_id = $2 AND NOT w.has_come ORDER BY 1`,
);

/** Returns the hashes of bytes of an archive that have not arrived. */
export async function listWantedBytes(tx: Tx, orgId: string, archiveId: string): Promise<string[]> {
  const rows = await tx.rows<{ sha256: string }>(listSql, [orgId, archiveId]);
  return rows.map(({ sha256 }) => sha256);
}

const findSql = sql(
  "artifacts_find_wanted_bytes",
  `SELECT w.row_id, w.is_entry, w.project_id, w.size_bytes, w.has_come,
     CASE WHEN w.is_entry THEN EXISTS (SELECT FROM runs.project_refs_v1 f WHERE f.org_id = $1 AND f.id = w.project_id OFFSET 0)
     ELSE EXISTS (SELECT FROM artifacts.artifacts a ${ofVisibleRun("a.run_id")} WHERE a.org_id = $1 AND a.id = w.row_id OFFSET 0)
     END AS is_visible
   FROM artifacts.wanted_bytes w
   WHERE w.org_id = $1 AND w.archive_id = $2 AND w.sha256 = decode($3, 'hex') ORDER BY w.row_id FOR UPDATE`,
);

/** Locks and returns the rows of an archive that wait, or waited, for bytes; `is_visible` is false for rows that are deleted with their run or project. */
export function lockWantedBytes(
  tx: Tx,
  orgId: string,
  archiveId: string,
  sha256: string,
): Promise<(Omit<WantedBytes, "sha256"> & { readonly has_come: boolean; readonly is_visible: boolean })[]> {
  return tx.rows(findSql, [orgId, archiveId, sha256]);
}

const giveSql = (table: string) =>
  sql(
    `artifacts_give_bytes_to_${table}`,
    `UPDATE artifacts.${table} o SET object_id = $3 WHERE o.org_id = $1 AND o.id = $2 AND o.object_id IS NULL`,
  );
const giveArtifactSql = giveSql("artifacts");
const giveEntrySql = giveSql("entries");

/** Gives a row its bytes. False: it is gone, or already has them. */
export async function giveBytes(
  tx: Tx,
  orgId: string,
  { row_id, is_entry }: Pick<WantedBytes, "row_id" | "is_entry">,
  objectId: string,
): Promise<boolean> {
  return (await tx.count(is_entry ? giveEntrySql : giveArtifactSql, [orgId, row_id, objectId])) === 1;
}

const haveComeSql = sql(
  "artifacts_note_bytes_came",
  "UPDATE artifacts.wanted_bytes SET has_come = true WHERE org_id = $1 AND archive_id = $2 AND sha256 = decode($3, 'hex')",
);

/** Notes that bytes of an archive have arrived. */
export async function noteBytesCame(tx: Tx, orgId: string, archiveId: string, sha256: string): Promise<void> {
  await tx.rows(haveComeSql, [orgId, archiveId, sha256]);
}
