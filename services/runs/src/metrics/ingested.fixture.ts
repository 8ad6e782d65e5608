import { isMinimizeKey } from "@tidemark/values/metric-direction";
import { asOwner, type RunsFixture } from "../runs.fixture.ts";

const COLUMNS = "count, mean, m2, min, min_step, max, max_step, latest, latest_step, first_step";

/**
 * Returns a statement that stores metric keys with their aggregates, as the ingest service does. `aggregates` is a query that returns, in this order:
 * org_id, run_id, key, minimise, count, mean, m2, min, min_step, max, max_step, latest, latest_step, first_step; with `indexed` also the sort values
 * of an indexed run: sort_best, sort_latest, sort_created_at. The runs must not have the keys yet.
 */
export function insertAggregates(aggregates: string, indexed = false): string {
  return `
    WITH aggregates (org_id, run_id, key, minimise, ${COLUMNS}, sort_best, sort_latest, sort_created_at) AS MATERIALIZED (
      ${indexed ? aggregates : `SELECT a.*, NULL::float8, NULL::float8, NULL::timestamptz FROM (${aggregates}) a`}
    ), numbered AS MATERIALIZED (
      SELECT a.*, (coalesce(r.key_count, 0)
                   + row_number() OVER (PARTITION BY a.org_id, a.run_id ORDER BY a.key::text COLLATE "C") - 1)::integer AS key_id
      FROM aggregates a LEFT JOIN ingest.metric_runs r ON r.org_id = a.org_id::uuid AND r.run_id = a.run_id::uuid
    ), keys AS (
      INSERT INTO ingest.metric_keys (org_id, run_id, key, key_id, minimise, sort_best, sort_latest, sort_created_at)
      SELECT org_id::uuid, run_id::uuid, key, key_id, minimise, sort_best, sort_latest, sort_created_at FROM numbered
      ORDER BY org_id, run_id, key_id
    ), pages AS (
      INSERT INTO ingest.metric_aggregate_pages AS p (org_id, run_id, page, stats)
      SELECT org_id::uuid, run_id::uuid, key_id / 32, array_agg(s.number ORDER BY key_id, s.n)
      FROM numbered, unnest(ARRAY[${COLUMNS}]::float8[]) WITH ORDINALITY AS s (number, n)
      GROUP BY org_id, run_id, key_id / 32
      ORDER BY org_id, run_id, key_id / 32
      ON CONFLICT (org_id, run_id, page) DO UPDATE SET stats = p.stats || excluded.stats
    ), counters AS (
      INSERT INTO ingest.project_points AS p (org_id, project_id, slot, points, series, month, month_points)
      SELECT r.org_id, r.project_id, 0, sum(n.count), 0, '2026-01-01', 0
      FROM numbered n JOIN runs.runs r ON r.org_id = n.org_id::uuid AND r.id = n.run_id::uuid GROUP BY r.org_id, r.project_id
      ON CONFLICT (org_id, project_id, slot) DO UPDATE SET points = p.points + excluded.points
    )
    INSERT INTO ingest.metric_runs AS r (org_id, run_id, version, key_count, point_count)
    SELECT org_id::uuid, run_id::uuid, 1, count(*), sum(count) FROM numbered GROUP BY org_id, run_id
    ON CONFLICT (org_id, run_id) DO UPDATE
    SET key_count = r.key_count + excluded.key_count, point_count = r.point_count + excluded.point_count`;
}

/** Gives a run a metric with this aggregate, as a write does. */
export async function putAggregate(
  fixture: RunsFixture,
  orgId: string,
  runId: string,
  key: string,
  aggregate: { latest: number; min?: number; max?: number; count?: number; mean?: number; m2?: number | "Infinity" },
): Promise<void> {
  const { latest, min = latest, max = latest, count = 1, mean = latest, m2 = 0 } = aggregate;
  await asOwner(
    fixture,
    insertAggregates(`SELECT $1::uuid, $2::uuid, $3::text, $10::boolean, $4::float8, $5::float8, $6::float8, $7::float8, 1, $8::float8, 2,
                        $9::float8, 3, 0`),
    [orgId, runId, key, count, mean, m2, min, max, latest, isMinimizeKey(key)],
  );
  await asOwner(
    fixture,
    "INSERT INTO ingest.unindexed_runs (org_id, run_id, touched_minute) VALUES ($1, $2, 1) ON CONFLICT DO NOTHING",
    [orgId, runId],
  );
}

/** Gives a run metrics of one value each. */
export async function putValues(
  fixture: RunsFixture,
  orgId: string,
  runId: string,
  values: Readonly<Record<string, number>>,
): Promise<void> {
  for (const [key, latest] of Object.entries(values)) await putAggregate(fixture, orgId, runId, key, { latest });
}

/** Indexes the sort values of runs, as the ingest service does once they are quiet. */
export async function indexSortValues(fixture: RunsFixture, orgId: string, runIds: readonly string[]): Promise<void> {
  for (const id of runIds) {
    await asOwner(fixture, "SELECT ingest.index_sort_values($1, $2, '', 1000)", [orgId, id]);
    const [row] = await asOwner<{ indexed: boolean }>(fixture, "SELECT ingest.finish_indexing($1, $2, 1) AS indexed", [
      orgId,
      id,
    ]);
    if (row?.indexed !== true) throw new Error(`run ${id} was not indexed`);
  }
}

/** The next id of an attribute in a database. */
const nextIds = new WeakMap<RunsFixture, number>();

/** Logs attributes of a run one after the other, as the ingest service does; values are JSON. */
export async function putAttributes(
  fixture: RunsFixture,
  orgId: string,
  runId: string,
  values: readonly (readonly [path: string, value: string])[],
  type = "config",
): Promise<void> {
  const first = nextIds.get(fixture) ?? 1;
  nextIds.set(fixture, first + values.length);
  await asOwner(
    fixture,
    `INSERT INTO ingest.attributes (org_id, id, run_id, path, type, logged_at, value, summary, created_at)
     SELECT set_config('app.org_id', $1::text, true)::uuid, $3::bigint + a.n - 1, $2, a.path, $6, now(), a.value::json, '{}', now()
     FROM unnest($4::text[], $5::text[]) WITH ORDINALITY AS a (path, value, n)`,
    [orgId, runId, first, values.map(([path]) => path), values.map(([, value]) => value), type],
  );
}
