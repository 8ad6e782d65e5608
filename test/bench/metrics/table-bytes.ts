import type pg from "pg";

/** Bytes on the disk of the tables that hold metrics, each with its indexes and TOAST. */
export type TableBytes = {
  /** Compacted points. */
  readonly blocks: number;
  /** Landing segments that wait, and the space that compacted ones left. */
  readonly landing: number;
  /** What is known of runs and keys: names, aggregates, counters. */
  readonly aggregates: number;
  /** The product's record of idempotency keys. */
  readonly idempotency: number;
  /** The compactor's work. */
  readonly work: number;
  readonly total: number;
};

const SIZES = `
  SELECT c.oid::regclass::text AS name, pg_total_relation_size(c.oid)::float8 AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND (n.nspname = 'ingest' OR c.relname LIKE 'idempotency%')`;

const kinds = [
  ["blocks", /metric_blocks/],
  ["landing", /metric_segments/],
  ["aggregates", /metric_(runs|keys|aggregate)|project_points/],
  ["idempotency", /idempotency/],
  ["work", /compaction/],
] as const;

/** Sizes after VACUUM and CHECKPOINT. `owner` owns the database. */
export async function metricTableBytes(owner: pg.Client): Promise<TableBytes> {
  await owner.query("VACUUM");
  await owner.query("CHECKPOINT");
  const { rows } = await owner.query<{ name: string; bytes: number }>(SIZES);
  const sum = (pattern: RegExp): number =>
    rows.filter(({ name }) => pattern.test(name)).reduce((total, { bytes }) => total + Number(bytes), 0);
  const sizes = Object.fromEntries(kinds.map(([kind, pattern]) => [kind, sum(pattern)])) as Omit<TableBytes, "total">;
  return { ...sizes, total: Object.values(sizes).reduce((total, bytes) => total + bytes, 0) };
}
