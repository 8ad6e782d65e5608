import { insertAggregates } from "../metrics/aggregates.fixture.ts";
import { asOwner, type RunsFixture } from "../runs.fixture.ts";

/** Number of projects; project 3 has half of the runs, project 5 a few. */
const PROJECTS = 10;
/** The metric of all runs, and one that every tenth run has. */
export const [COMMON_METRIC, RARE_METRIC] = ["eval/score", "eval/rare"] as const;

const id = (what: string): string => `md5($1 || ' ${what} ' || n)::uuid`;

/**
 * Fills an organization with many runs whose metric sort values are indexed, except those of the newest
 * fifty. Rows are written as the triggers write them, and the texts are indexed afterwards, which takes
 * a tenth of the time.
 */
export async function seedForPlans(fixture: RunsFixture, orgId: string, runs = 15_000): Promise<void> {
  const run = (statement: string, values: readonly unknown[] = []) => asOwner(fixture, statement, values);
  const [index] = await asOwner<{ definition: string }>(
    fixture,
    "SELECT pg_get_indexdef('runs.run_texts_words'::regclass) AS definition",
  );
  await run("DROP INDEX runs.run_texts_words");
  await run("ALTER TABLE runs.runs DISABLE TRIGGER USER");
  await run(
    `INSERT INTO runs.projects (org_id, id, name) SELECT $1::uuid, ${id("project")}, 'project ' || n
     FROM generate_series(0, $2::int - 1) n`,
    [orgId, PROJECTS],
  );
  await run(
    `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, finished_at,
                            stop_state, stop_request_id)
     SELECT $1::uuid, ${id("run")}, md5($1 || ' project ' || CASE WHEN n % 10 < 4 OR (n % 10 = 5 AND n % 500 <> 5) THEN 3 ELSE n % $3 END)::uuid, 'run ' || md5(n::text), status,
            '{"lr":0.' || n % 10 || ',"model":"' || md5((n % 50)::text) || '","seed":' || n || '}',
            ARRAY['even-' || n % 2, CASE WHEN n % 1000 IN (7, 8) THEN 'rare-' || n % 1000 ELSE 'team-' || n % 40 END], '{"notes":"' || md5((n / 7)::text) || '"}', t, t,
            CASE WHEN status <> 'running' THEN t + n % 1000 * interval '1 second' END,
            CASE WHEN n % 1000 = 0 THEN 'requested' ELSE 'none' END, CASE WHEN n % 1000 = 0 THEN ${id("run")} END
     FROM (SELECT n, CASE WHEN n % 100 = 0 THEN 'running' WHEN n % 10 = 3 THEN 'failed' ELSE 'finished' END AS status,
                  timestamptz '2026-01-01T00:00:00Z' + n * interval '37 seconds' AS t
           FROM generate_series(1, $2::int) n) numbered`,
    [orgId, runs, PROJECTS],
  );
  await run(
    `INSERT INTO runs.run_texts
     SELECT t.* FROM runs.runs r JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id
     CROSS JOIN LATERAL runs.texts_of(r, p.name) t WHERE r.org_id = $1`,
    [orgId],
  );
  await run(
    `UPDATE runs.projects p SET runs_running = c.running, runs_finished = c.finished, runs_failed = c.failed
     FROM (SELECT project_id, count(*) FILTER (WHERE status = 'running') AS running,
                  count(*) FILTER (WHERE status = 'finished') AS finished, count(*) FILTER (WHERE status = 'failed') AS failed
           FROM runs.runs WHERE org_id = $1 GROUP BY project_id) c
     WHERE p.org_id = $1 AND p.id = c.project_id`,
    [orgId],
  );
  await run("ALTER TABLE runs.runs ENABLE TRIGGER USER");
  await run(index!.definition);
  await run(
    insertAggregates(
      `SELECT $1::uuid, ${id("run")}, k.key, false, 10, v, 1, v, 1, v, 1, v, 1, 0, v, v,
              timestamptz '2026-01-01T00:00:00Z' + n * interval '37 seconds'
       FROM generate_series(1, $2::int) n, LATERAL (SELECT (n * 7919 % 100003)::float8 AS v) drawn,
            unnest(ARRAY[$3, $4, 'train/loss', 'train/accuracy']) AS k (key)
       WHERE k.key <> $4 OR n % 10 = 0`,
      true,
    ),
    [orgId, runs, COMMON_METRIC, RARE_METRIC],
  );
  await run(
    `INSERT INTO ingest.unindexed_runs (org_id, run_id, touched_minute)
     SELECT $1::uuid, ${id("run")}, 1 FROM generate_series($2::int - 49, $2::int) n`,
    [orgId, runs],
  );
  const tables = [
    "runs.runs",
    "runs.run_texts",
    "runs.projects",
    "ingest.metric_runs",
    "ingest.metric_keys",
    "ingest.metric_aggregate_pages",
    "ingest.project_points",
    "ingest.unindexed_runs",
  ];
  // As autovacuum does after some time: statistics, and the pages that index-only scans trust.
  for (const table of tables) await run(`VACUUM (ANALYZE) ${table}`);
}
