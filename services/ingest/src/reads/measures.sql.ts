import { OBJECT_KINDS } from "@tidemark/limits";
import { binarySql, sql, type Tx } from "@tidemark/pg";

/** The amounts of data of a run. */
export type RunMeasureRow = {
  readonly points: number;
  readonly metricKeys: number;
  readonly hasAttributes: boolean;
  readonly objectKinds: readonly string[];
};

const measureRunsSql = sql(
  "ingest_measure_runs",
  `SELECT coalesce(m.point_count, 0) AS points, coalesce(m.key_count, 0) AS "metricKeys",
          EXISTS (SELECT 1 FROM ingest.attributes a WHERE a.org_id = $1 AND a.run_id = r.id OFFSET 0) AS "hasAttributes",
          ARRAY(SELECT k.kind FROM unnest($3::text[]) AS k (kind)
                WHERE EXISTS (SELECT 1 FROM ingest.objects o WHERE o.org_id = $1 AND o.run_id = r.id AND o.kind = k.kind OFFSET 0)) AS "objectKinds"
   FROM unnest($2::uuid[]) WITH ORDINALITY AS r (id, ordinal)
   LEFT JOIN LATERAL (SELECT o.point_count, o.key_count FROM ingest.metric_runs o WHERE o.org_id = $1 AND o.run_id = r.id OFFSET 0) m
     ON true
   ORDER BY r.ordinal`,
);

/** Returns the amounts of data of each run, in their order. */
export function measureRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<RunMeasureRow[]> {
  return tx.rows(measureRunsSql, [orgId, runIds, OBJECT_KINDS]);
}

// The limits stand outside of all joins, so that counting ends where they are reached.
const countAttributesSql = sql(
  "ingest_count_attributes",
  `SELECT count(*)::integer AS rows FROM (
     SELECT 1 FROM unnest($2::uuid[]) AS r (id)
     CROSS JOIN LATERAL (SELECT 1 FROM ingest.attributes a WHERE a.org_id = $1 AND a.run_id = r.id OFFSET 0) one
     LIMIT $3::bigint) counted`,
);

const countObjectsSql = sql(
  "ingest_count_objects",
  `SELECT count(*)::integer AS rows FROM (
     SELECT 1 FROM unnest($2::uuid[]) AS r (id) CROSS JOIN unnest($4::text[]) AS k (kind)
     CROSS JOIN LATERAL (SELECT 1 FROM ingest.objects o
                         WHERE o.org_id = $1 AND o.run_id = r.id AND o.kind = k.kind AND NOT o.from_attribute OFFSET 0) one
     LIMIT $3::bigint) counted`,
);

/**
 * Returns whether the runs have more than `max` attributes, including objects that are not attributes. Objects are counted only if all attributes were, so
 * that no more than `max` of these are counted again among the objects.
 */
export async function hasMoreAttributes(
  tx: Tx,
  orgId: string,
  runIds: readonly string[],
  max: number,
): Promise<boolean> {
  const attributes = (await tx.one<{ rows: number }>(countAttributesSql, [orgId, runIds, max + 1]))!.rows;
  if (attributes > max) return true;
  const objects = await tx.one<{ rows: number }>(countObjectsSql, [orgId, runIds, max + 1 - attributes, OBJECT_KINDS]);
  return attributes + objects!.rows > max;
}

const listTablesSql = sql(
  "ingest_list_tables",
  `SELECT t.id, coalesce((SELECT max(c.chunk) FROM ingest.table_chunks c WHERE c.org_id = $1 AND c.object_id = t.id), -1) AS "lastChunk"
   FROM unnest($2::uuid[]) AS r (id)
   CROSS JOIN LATERAL (SELECT o.id FROM ingest.objects o WHERE o.org_id = $1 AND o.run_id = r.id AND o.kind = 'table' OFFSET 0) t
   LIMIT $3::bigint`,
);

/** A table, and the number of its last chunk; -1 when it has no rows. */
export type TableEnd = { readonly id: number; readonly lastChunk: number };

/** Returns at most `max` of the runs' tables. */
export function listTables(tx: Tx, orgId: string, runIds: readonly string[], max: number): Promise<TableEnd[]> {
  return tx.rows(listTablesSql, [orgId, runIds, max]);
}

const readLastChunksSql = binarySql(
  "ingest_read_last_chunks",
  `SELECT c.rows FROM unnest($2::bigint[], $3::smallint[]) AS t (id, chunk)
   CROSS JOIN LATERAL (SELECT o.rows FROM ingest.table_chunks o WHERE o.org_id = $1 AND o.object_id = t.id AND o.chunk = t.chunk OFFSET 0) c`,
);

/** Returns the last chunks of tables that have rows. */
export async function readLastChunks(tx: Tx, orgId: string, tables: readonly TableEnd[]): Promise<Buffer[]> {
  const values = [orgId, tables.map(({ id }) => id), tables.map(({ lastChunk }) => lastChunk)];
  const rows = await tx.rows<{ rows: Buffer }>(readLastChunksSql, values);
  return rows.map(({ rows: bytes }) => bytes);
}
