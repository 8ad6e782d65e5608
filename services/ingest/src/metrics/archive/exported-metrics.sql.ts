import { binarySql, sql, type Tx } from "@tidemark/pg";

/** A run with metrics. */
export type PointRun = { readonly runId: string; readonly keyCount: number; readonly widths: readonly number[] };

const findRuns = sql(
  "ingest_export_point_runs",
  `SELECT w.id AS "runId", m.key_count AS "keyCount",
          ARRAY(SELECT DISTINCT b.width FROM ingest.metric_blocks b WHERE b.org_id = $1 AND b.run_id = w.id) AS widths
   FROM unnest($2::uuid[]) WITH ORDINALITY AS w (id, n)
   CROSS JOIN LATERAL (SELECT f.key_count FROM ingest.metric_runs f WHERE f.org_id = $1 AND f.run_id = w.id OFFSET 0) m
   ORDER BY w.n`,
);

/** Returns the runs that have metrics, with the widths of their blocks. */
export function findPointRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<PointRun[]> {
  return tx.rows(findRuns, [orgId, runIds]);
}

const listKeys = sql(
  "ingest_export_metric_keys",
  `SELECT key, key_id AS "keyId" FROM ingest.metric_keys WHERE org_id = $1 AND run_id = $2`,
);

/** Returns the keys of a run by their numbers. */
export async function listMetricKeys(tx: Tx, orgId: string, runId: string): Promise<string[]> {
  const keys: string[] = [];
  for (const { key, keyId } of await tx.rows<{ key: string; keyId: number }>(listKeys, [orgId, runId]))
    keys[keyId] = key;
  return keys;
}

/** Bytes of blocks or segments that one statement returns, plus at most one more row. */
const PAGE_BYTES = 2 * 1024 * 1024;
const PAGE_ROWS = 256;

// The length of bytes outside of a row is known without reading them, so the first rows are chosen before any is read.
const listBlocks = binarySql(
  "ingest_export_metric_blocks",
  `SELECT p.first_key AS "firstKey", p.first_seq AS "firstSeq", b.data
   FROM (SELECT f.first_key, f.first_seq, sum(f.bytes) OVER (ORDER BY f.first_key, f.first_seq) - f.bytes AS before
         FROM (SELECT m.first_key, m.first_seq, octet_length(m.data) AS bytes FROM ingest.metric_blocks m
               WHERE m.org_id = $1 AND m.run_id = $2 AND m.width = $3 AND m.first_key < $4
                 AND (m.first_key, m.first_seq) > ($5::integer, $6::bigint)
               ORDER BY m.first_key, m.first_seq LIMIT ${PAGE_ROWS}) f) p
   CROSS JOIN LATERAL (SELECT d.data FROM ingest.metric_blocks d
     WHERE d.org_id = $1 AND d.run_id = $2 AND d.first_key = p.first_key AND d.first_seq = p.first_seq OFFSET 0) b
   WHERE p.before < ${PAGE_BYTES} ORDER BY p.first_key, p.first_seq`,
);

/** Reads blocks of one width whose first key is in the range `[from, to)`, by first key and arrival. */
export async function* readBlocks(
  tx: Tx,
  orgId: string,
  runId: string,
  { width, from, to }: { readonly width: number; readonly from: number; readonly to: number },
): AsyncGenerator<Uint8Array, void, undefined> {
  let after = [from, -1];
  for (;;) {
    const rows = await tx.rows<{ firstKey: number; firstSeq: number; data: Buffer }>(listBlocks, [
      orgId,
      runId,
      width,
      to,
      ...after,
    ]);
    for (const { data } of rows) yield data;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = [last.firstKey, last.firstSeq];
  }
}

/** One accepted request that no block has yet. */
type WaitingSegment = { readonly id: number; readonly receivedUs: number; readonly points: Buffer };

const listSegments = binarySql(
  "ingest_export_metric_segments",
  `SELECT p.id, b.received_us AS "receivedUs", b.points
   FROM (SELECT f.id, sum(f.bytes) OVER (ORDER BY f.id) - f.bytes AS before
         FROM (SELECT s.id, octet_length(s.points) AS bytes FROM ingest.metric_segments s
               WHERE s.org_id = $1 AND s.run_id = $2 AND s.id > $3::bigint ORDER BY s.id LIMIT 4096) f) p
   CROSS JOIN LATERAL (SELECT d.received_us, d.points FROM ingest.metric_segments d
     WHERE d.org_id = $1 AND d.run_id = $2 AND d.id = p.id OFFSET 0) b
   WHERE p.before < ${PAGE_BYTES} ORDER BY p.id`,
);

/** Reads the landing segments of a run by arrival. */
export async function* readSegments(
  tx: Tx,
  orgId: string,
  runId: string,
): AsyncGenerator<WaitingSegment, void, undefined> {
  let after = -1;
  for (;;) {
    const rows = await tx.rows<WaitingSegment>(listSegments, [orgId, runId, after]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** The figures of a metric key, in the order in which they are read. */
export const FIGURES = [
  "count",
  "min",
  "max",
  "mean",
  "variance",
  "latest",
  "latest_step",
  "best",
  "best_step",
  "non_finite",
  "non_finite_step",
] as const;

/** The aggregates of a key; a variance that a double cannot hold is null, and so is the step where all values are finite. */
type AggregateRow = { readonly key: string } & { readonly [figure in (typeof FIGURES)[number]]: number | null };

const pageSql = binarySql(
  "ingest_page_metric_aggregates",
  `SELECT h.key, h.count::double precision AS count, ${FIGURES.slice(1)
    .map((figure) => `h.${figure}`)
    .join(", ")}
   FROM ingest.metric_aggregates_v1 h
   WHERE h.org_id = $1 AND h.run_id = $2 AND h.key COLLATE "C" > $3 ORDER BY h.key COLLATE "C" LIMIT $4`,
);

/** Returns the aggregates of a run's next keys after `after`, in the order of their bytes. */
export function pageMetricAggregates(
  tx: Tx,
  orgId: string,
  runId: string,
  after: string,
  limit: number,
): Promise<AggregateRow[]> {
  return tx.rows(pageSql, [orgId, runId, after, limit]);
}
