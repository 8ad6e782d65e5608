import { sql, type ReadPage, type Statement, type Tx, float8Array, textArray } from "@tidemark/pg";
import type { AttributeRecord, AttributeRow } from "./attributes.sql.ts";

/** Bytes of attributes that one statement returns, plus at most one more attribute. */
const PAGE_BYTES = 4 * 1024 * 1024;
const PAGE_ROWS = 1000;

const page = (name: string, where: string) =>
  sql(
    name,
    `SELECT a.id, a.path, a.type, a.step, a.logged_at AS "loggedAt", a.value AS "valueJson", a.summary AS "summaryJson",
            a.artifact_id AS "artifactId", a.created_at AS "createdAt", a.bytes
     FROM (SELECT f.id, f.step, sum(f.bytes) OVER (ROWS UNBOUNDED PRECEDING) - f.bytes AS before
           FROM (SELECT t.id, t.step, t.bytes FROM ingest.attributes t WHERE t.org_id = $1 AND t.run_id = $2 AND ${where}
                 ORDER BY t.step NULLS FIRST, t.id LIMIT ${PAGE_ROWS}) f) p
     CROSS JOIN LATERAL (SELECT * FROM ingest.attributes d WHERE d.org_id = $1 AND d.id = p.id OFFSET 0) a
     WHERE p.before < ${PAGE_BYTES}`,
  );
// Attributes without a step are one range of the index, attributes with a step another.
const withoutStep = page("ingest_export_attributes_without_step", "t.step IS NULL AND t.id > $3::bigint");
const withStep = page("ingest_export_attributes", "(t.step, t.id) > ($3::double precision, $4::bigint)");

type Weighed = AttributeRecord & { readonly bytes: number };

/** Reads the attributes of a run by step, those without a step first, then by id. */
export async function* readAttributes(
  read: ReadPage,
  orgId: string,
  runId: string,
): AsyncGenerator<AttributeRecord[], void, undefined> {
  const pages = async function* (
    statement: Statement,
    first: readonly unknown[],
    placeOf: (row: Weighed) => readonly unknown[],
  ) {
    for (let after = first; ;) {
      const rows = await read((tx) => tx.rows<Weighed>(statement, [orgId, runId, ...after]));
      if (rows.length > 0) yield rows;
      const isFull = rows.length === PAGE_ROWS || rows.reduce((sum, { bytes }) => sum + bytes, 0) >= PAGE_BYTES;
      if (!isFull) return;
      after = placeOf(rows.at(-1)!);
    }
  };
  yield* pages(withoutStep, [-1], ({ id }) => [id]);
  yield* pages(withStep, ["-Infinity", -1], ({ step, id }) => [step, id]);
}

const findRuns = sql(
  "ingest_export_attribute_runs",
  `SELECT w.id AS "runId" FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, n)
   WHERE EXISTS (SELECT 1 FROM ingest.attributes t WHERE t.org_id = $1 AND t.run_id = w.id OFFSET 0) ORDER BY w.n`,
);

/** Returns the runs that have attributes. */
export async function findAttributeRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<string[]> {
  return (await tx.rows<{ runId: string }>(findRuns, [orgId, runIds])).map(({ runId }) => runId);
}

/** Attributes of a run that get the ids from `firstId` on; instants are RFC 3339 texts. */
type RestoredAttributes = {
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
