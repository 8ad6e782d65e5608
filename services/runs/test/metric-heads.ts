import { AGGREGATES_PER_PAGE } from "@tidemark/metric-codec";

const AGGREGATES = "count, mean, m2, min, min_step, max, max_step, latest, latest_step, first_step";

/**
 * A statement that stores metric keys with their aggregates, as writes of the ingest service would. `heads` is a query of, in this order: org_id,
 * run_id, key, minimise, count, mean, m2, min, min_step, max, max_step, latest, latest_step, first_step, and if `ranked` also rank_best,
 * rank_latest, rank_created_at as of a settled run. The keys are new to their runs.
 */
export function insertHeads(heads: string, ranked = false): string {
  return `
    WITH heads (org_id, run_id, key, minimise, ${AGGREGATES}, rank_best, rank_latest, rank_created_at) AS MATERIALIZED (
      ${ranked ? heads : `SELECT h.*, NULL::float8, NULL::float8, NULL::timestamptz FROM (${heads}) h`}
    ), numbered AS MATERIALIZED (
      SELECT h.*, (coalesce(r.key_count, 0)
                   + row_number() OVER (PARTITION BY h.org_id, h.run_id ORDER BY h.key::text COLLATE "C") - 1)::integer AS key_id
      FROM heads h LEFT JOIN ingest.metric_runs r ON r.org_id = h.org_id::uuid AND r.run_id = h.run_id::uuid
    ), keys AS (
      INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise, rank_best, rank_latest, rank_created_at)
      SELECT org_id::uuid, run_id::uuid, key, key_id, minimise, rank_best, rank_latest, rank_created_at FROM numbered
      ORDER BY org_id, run_id, key_id
    ), pages AS (
      INSERT INTO ingest.metric_head_pages AS p (org_id, run_id, page, stats)
      SELECT org_id::uuid, run_id::uuid, key_id / ${AGGREGATES_PER_PAGE}, array_agg(s.number ORDER BY key_id, s.n)
      FROM numbered, unnest(ARRAY[${AGGREGATES}]::float8[]) WITH ORDINALITY AS s (number, n)
      GROUP BY org_id, run_id, key_id / ${AGGREGATES_PER_PAGE}
      ORDER BY org_id, run_id, key_id / ${AGGREGATES_PER_PAGE}
      ON CONFLICT (org_id, run_id, page) DO UPDATE SET stats = p.stats || excluded.stats
    )
    INSERT INTO ingest.metric_runs AS r (org_id, run_id, version, key_count, point_count)
    SELECT org_id::uuid, run_id::uuid, 1, count(*), sum(count) FROM numbered GROUP BY org_id, run_id
    ON CONFLICT (org_id, run_id) DO UPDATE
    SET key_count = r.key_count + excluded.key_count, point_count = r.point_count + excluded.point_count`;
}
