import { float8Array, int8Array, sql, textArray, type Tx } from "@tidemark/pg";

/** Objects of a run that get the ids from `firstId` on; documents are JSON texts, instants RFC 3339. */
export type RestoredObjects = {
  readonly orgId: string;
  readonly archiveId: string;
  readonly runId: string;
  readonly projectId: string;
  readonly firstId: number;
  readonly rows: readonly {
    readonly oldId: number;
    readonly key: string;
    readonly kind: string;
    readonly step: number | undefined;
    /** Empty: none. */
    readonly artifactId: string;
    readonly valueJson: string;
    readonly metadataJson: string;
    readonly summaryJson: string;
    readonly createdAt: string;
  }[];
};

const insertSql = sql(
  "ingest_restore_objects",
  `WITH o AS (
     SELECT $5::bigint + w.n - 1 AS id, w.*
     FROM unnest($6::bigint[], $7::text[], $8::text[], $9::float8[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
          WITH ORDINALITY AS w (old_id, key, kind, step, artifact_id, value, metadata, summary, created_at, n)
   ), kept AS (
     INSERT INTO ingest.restored_objects (org_id, archive_id, old_id, new_id) SELECT $1, $2, o.old_id, o.id FROM o
   )
   INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, artifact_id, value, metadata, summary, bytes, created_at)
   SELECT $1, o.id, $3, $4, o.key, o.kind, false, nullif(o.step, 'NaN'), o.artifact_id::uuid, o.value::json, o.metadata::json, o.summary::json,
          octet_length(o.key) + octet_length(o.value) + octet_length(o.metadata) + octet_length(o.summary), o.created_at::timestamptz
   FROM o`,
);

/** Stores objects with their times, and remembers which ids they got. */
export async function insertRestoredObjects(tx: Tx, write: RestoredObjects): Promise<void> {
  const { rows } = write;
  await tx.rows(insertSql, [
    write.orgId,
    write.archiveId,
    write.runId,
    write.projectId,
    write.firstId,
    int8Array(rows.map(({ oldId }) => oldId)),
    textArray(rows.map(({ key }) => key)),
    textArray(rows.map(({ kind }) => kind)),
    float8Array(rows.map(({ step }) => step ?? Number.NaN)),
    textArray(rows.map(({ artifactId }) => artifactId || null)),
    textArray(rows.map(({ valueJson }) => valueJson)),
    textArray(rows.map(({ metadataJson }) => metadataJson)),
    textArray(rows.map(({ summaryJson }) => summaryJson)),
    textArray(rows.map(({ createdAt }) => createdAt)),
  ]);
}

const findTableSql = sql(
  "ingest_find_restored_table",
  `SELECT o.id, o.project_id AS "projectId" FROM ingest.restored_objects r
   CROSS JOIN LATERAL (SELECT b.* FROM ingest.objects b WHERE b.org_id = $1 AND b.id = r.new_id OFFSET 0) o
   WHERE r.org_id = $1 AND r.archive_id = $2 AND r.old_id = $3 AND o.kind = 'table'`,
);

/** Returns the table that has this name in an archive. */
export function findRestoredTable(
  tx: Tx,
  { orgId, archiveId, oldId }: { readonly orgId: string; readonly archiveId: string; readonly oldId: number },
): Promise<{ readonly id: number; readonly projectId: string } | undefined> {
  return tx.one(findTableSql, [orgId, archiveId, oldId]);
}

const forgetSql = sql(
  "ingest_forget_restored_objects",
  "DELETE FROM ingest.restored_objects WHERE org_id = $1 AND archive_id = $2",
);

/** Forgets which ids the objects of an archive got. */
export async function forgetObjects(tx: Tx, orgId: string, archiveId: string): Promise<void> {
  await tx.rows(forgetSql, [orgId, archiveId]);
}
