import { float8Array, sql, textArray, type Tx } from "@tidemark/pg";
import type { AttributeRow } from "./attributes.sql.ts";

/** Attributes of a run that get the ids from `firstId` on; instants are RFC 3339 texts. */
export type RestoredAttributes = {
  readonly orgId: string;
  readonly runId: string;
  readonly projectId: string;
  readonly firstId: number;
  readonly rows: readonly (AttributeRow & { readonly createdAt: string })[];
};

const insertSql = sql(
  "ingest_restore_attributes",
  `WITH a AS (
     SELECT $4::bigint + w.n - 1 AS id, w.path, w.type, nullif(w.step, 'NaN') AS step, w.logged_at::timestamptz AS logged_at, w.document, w.summary,
            w.artifact_id::uuid AS artifact_id, w.created_at::timestamptz AS created_at
     FROM unnest($5::text[], $6::text[], $7::float8[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])
          WITH ORDINALITY AS w (path, type, step, logged_at, document, summary, artifact_id, created_at, n)
   ), made AS (
     INSERT INTO ingest.objects (org_id, id, run_id, project_id, key, kind, from_attribute, step, bytes, created_at)
     SELECT $1, a.id, $2, $3, a.path, CASE a.type WHEN 'string_series' THEN 'text' ELSE 'histogram' END, true, a.step,
            octet_length(a.path) + octet_length(a.document) + octet_length(a.summary), a.created_at
     FROM a WHERE a.type IN ('histogram_series', 'string_series')
   )
   INSERT INTO ingest.attributes (org_id, id, run_id, path, type, step, logged_at, value, summary, artifact_id, created_at)
   SELECT $1, a.id, $2, a.path, a.type, a.step, a.logged_at, a.document::json, a.summary::json, a.artifact_id, a.created_at FROM a`,
);

/** Stores attributes with their times, and the objects that attributes create. */
export async function insertRestoredAttributes(tx: Tx, write: RestoredAttributes): Promise<void> {
  const { rows } = write;
  await tx.rows(insertSql, [
    write.orgId,
    write.runId,
    write.projectId,
    write.firstId,
    textArray(rows.map(({ path }) => path)),
    textArray(rows.map(({ type }) => type)),
    float8Array(rows.map(({ step }) => step ?? Number.NaN)),
    textArray(rows.map(({ loggedAt }) => loggedAt)),
    textArray(rows.map(({ valueJson }) => valueJson)),
    textArray(rows.map(({ summaryJson }) => summaryJson)),
    textArray(rows.map(({ artifactId }) => artifactId || null)),
    textArray(rows.map(({ createdAt }) => createdAt)),
  ]);
}
