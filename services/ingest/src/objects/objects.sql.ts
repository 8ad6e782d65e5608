import { sql, type Tx, binarySql, byteaArray, int4Array, type Db } from "@tidemark/pg";
import { withFreshIds } from "../writes/fresh-ids.sql.ts";
import type { IdempotencyHashes } from "../writes/writes.rules.ts";
import type { PackedChunk } from "./object.rules.ts";

/** A stored object; documents are JSON texts, the artifact is null when it was deleted. */
export type ObjectRow = {
  readonly id: number;
  readonly runId: string;
  readonly projectId: string;
  readonly key: string;
  readonly kind: string;
  readonly step: number | null;
  readonly createdAt: string;
  readonly artifactId: string | null;
  readonly artifactName: string | null;
  readonly artifactUri: string;
  readonly mimeType: string;
  readonly sizeBytes: number | null;
  readonly storageBackend: string;
  /** Null where it was not requested. */
  readonly valueJson: string | null;
  readonly metadataJson: string;
  readonly summaryJson: string;
};

/** The columns of `ObjectRow` except the value, from `rows`. */
export const objectColumns = `o.id, o.run_id AS "runId", o.project_id AS "projectId", o.key, o.kind, o.step, o.created_at AS "createdAt",
  link.id AS "artifactId", v.name AS "artifactName", v.uri AS "artifactUri",
  v.mime_type AS "mimeType", v.size_bytes AS "sizeBytes", v.storage_backend AS "storageBackend",
  coalesce(o.summary, a.summary) AS "summaryJson",
  coalesce(o.metadata, CASE json_typeof(a.value) WHEN 'object' THEN
    CASE json_typeof(a.value -> 'metadata') WHEN 'object' THEN a.value -> 'metadata' END END, '{}') AS "metadataJson"`;

/**
 * The objects with the ids of $2 in their order; each with its attribute, if it is one, and its artifact. The id of the artifact is a column of a separate
 * subquery, because under row level security PostgreSQL looks up by columns and not by COALESCE, which might leak.
 */
export const objectsByIds = `unnest($2::bigint[]) AS wanted (id)
  CROSS JOIN LATERAL (SELECT * FROM ingest.objects s WHERE s.org_id = $1 AND s.id = wanted.id OFFSET 0) o
  LEFT JOIN LATERAL (SELECT t.value, t.summary, t.artifact_id, t.logged_at FROM ingest.attributes t
                     WHERE o.from_attribute AND t.org_id = $1 AND t.id = o.id OFFSET 0) a ON true
  CROSS JOIN LATERAL (SELECT coalesce(o.artifact_id, a.artifact_id) AS id OFFSET 0) link
  LEFT JOIN LATERAL (SELECT f.name, f.uri, f.mime_type, f.size_bytes, f.storage_backend FROM artifacts.artifacts_v1 f
                     WHERE f.org_id = $1 AND f.id = link.id OFFSET 0) v ON true`;

const readRows = sql(
  "ingest_read_objects",
  `SELECT ${objectColumns}, coalesce(o.value, a.value) AS "valueJson" FROM ${objectsByIds}`,
);

/** Returns objects of the organization by their ids, in the order of the ids. */
export function readObjects(tx: Tx, orgId: string, ids: readonly number[]): Promise<ObjectRow[]> {
  return tx.rows(readRows, [orgId, ids]);
}

/** Which objects of a run to list; empty texts mean all. */
type ObjectQuery = {
  readonly orgId: string;
  readonly runId: string;
  readonly kinds: readonly string[];
  readonly key: string;
  readonly limit: number;
  readonly offset: number;
};

/** The id of an object, and how many bytes its key and documents have. */
type ObjectWeight = { readonly id: number; readonly bytes: number };

const ORDER = "order_step DESC, created_at DESC, id DESC";

const weighByKind = sql(
  "ingest_weigh_objects_by_kind",
  `SELECT w.id, w.bytes FROM unnest($3::text[]) AS k (kind) CROSS JOIN LATERAL (
     SELECT o.id, o.bytes, o.order_step, o.created_at FROM ingest.objects o
     WHERE o.org_id = $1 AND o.run_id = $2 AND o.kind = k.kind ORDER BY ${ORDER} LIMIT $4::bigint + $5::bigint) w
   ORDER BY ${ORDER} LIMIT $4 OFFSET $5`,
);

const weighByKey = sql(
  "ingest_weigh_objects_by_key",
  `SELECT o.id, o.bytes FROM ingest.objects o
   WHERE o.org_id = $1 AND o.run_id = $2 AND o.key = $6 AND o.kind <> 'text' AND o.kind = ANY ($3::text[])
   ORDER BY ${ORDER} LIMIT $4 OFFSET $5`,
);

/** Returns a page of a run's objects: the last step first, objects without a step at the end, then the newest, then the highest id. */
export function weighObjects(tx: Tx, query: ObjectQuery): Promise<ObjectWeight[]> {
  const { orgId, runId, kinds, key, limit, offset } = query;
  const values = [orgId, runId, kinds, limit, offset];
  return key === "" ? tx.rows(weighByKind, values) : tx.rows(weighByKey, [...values, key]);
}

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

const readChunksAt = binarySql(
  "ingest_read_table_chunks_at",
  `SELECT c.chunk, c.rows FROM unnest($3::integer[]) AS w (n)
   CROSS JOIN LATERAL (SELECT o.chunk, o.rows FROM ingest.table_chunks o WHERE o.org_id = $1 AND o.object_id = $2 AND o.chunk = w.n OFFSET 0) c`,
);

/** Returns stored chunks of a table by their numbers. */
export function readTableChunksAt(
  tx: Tx,
  orgId: string,
  objectId: number,
  chunks: readonly number[],
): Promise<{ readonly chunk: number; readonly rows: Buffer }[]> {
  return tx.rows(readChunksAt, [orgId, objectId, int4Array([...chunks])]);
}

const measureSql = sql(
  "ingest_measure_table",
  `SELECT coalesce(sum(c.bytes), 0)::float8 AS bytes, coalesce(max(c.chunk) + 1, 0) AS chunks,
          coalesce((array_agg(c.bytes ORDER BY c.chunk DESC))[1], 0) AS "lastBytes"
   FROM ingest.table_chunks c WHERE c.org_id = $1 AND c.object_id = $2`,
);

/** How much a table has: bytes of cells in all and in its last chunk, and chunks. */
type TableMeasure = { readonly bytes: number; readonly chunks: number; readonly lastBytes: number };

/** Measures a table. */
export async function measureTable(tx: Tx, orgId: string, objectId: number): Promise<TableMeasure> {
  return (await tx.one<TableMeasure>(measureSql, [orgId, objectId]))!;
}

/** One accepted object. */
type ObjectWrite = {
  readonly orgId: string;
  readonly runId: string;
  readonly projectId: string;
  /** The only project that the caller may see; null: every project of the organization. */
  readonly onlyProject: string | null;
  readonly idempotency: IdempotencyHashes | null;
  /** Takes an id. */
  readonly takeId: () => number;
  readonly kind: string;
  readonly key: string;
  readonly step: number | null;
  readonly artifactId: string | null;
  /** Null for media. */
  readonly valueJson: string | null;
  readonly metadataJson: string;
  readonly summaryJson: string;
  /** The rows of a table as they are stored. */
  readonly chunks: readonly PackedChunk[];
};

/** The outcome; `no_artifact`: the artifact does not exist for this caller, `other_run`: it belongs to another run. */
type ObjectOutcome =
  | { readonly outcome: "inserted" | "replayed"; readonly id: number }
  | { readonly outcome: "reused" }
  | { readonly outcome: "no_artifact" }
  | { readonly outcome: "other_run" };

const insertObject = sql(
  "ingest_create_object",
  `SELECT outcome, id
   FROM ingest.create_object($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
);

/** Stores an object with the rows of a table, in one round trip and one transaction. @throws idempotency_in_progress */
export function createObject(db: Db, write: ObjectWrite): Promise<ObjectOutcome> {
  return withFreshIds(async () => {
    const outcome = await db.one<ObjectOutcome>(insertObject, [
      write.orgId,
      write.runId,
      write.projectId,
      write.onlyProject,
      write.idempotency?.key ?? null,
      write.idempotency?.body ?? null,
      write.takeId(),
      write.kind,
      write.key,
      write.step,
      write.artifactId,
      write.valueJson,
      write.metadataJson,
      write.summaryJson,
      byteaArray(write.chunks.map(({ rows }) => rows)),
      int4Array(write.chunks.map(({ bytes }) => bytes)),
    ]);
    return outcome!;
  });
}
