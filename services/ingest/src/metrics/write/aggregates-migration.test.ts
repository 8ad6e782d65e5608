import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { platformMigrations, sql, type Db } from "@tidemark/pg";
import { createFencedDatabase, type FencedDatabase } from "@tidemark/testkit";
import { ingestMigrations, ingestMigrationsBefore, runsMigrations } from "../../migrations.fixture.ts";

let database: FencedDatabase;
let owner: Db;
let before: Awaited<ReturnType<typeof ingestMigrationsBefore>>;
let beforeNames: Awaited<ReturnType<typeof ingestMigrationsBefore>>;
let beforeCounters: Awaited<ReturnType<typeof ingestMigrationsBefore>>;

/** Two organizations: a run with 70 keys and landing segments behind its aggregates, and one without landing segments. */
const [first, second] = [1, 2].map(() => ({ orgId: randomUUID(), runId: randomUUID() }));
const insertHeads = sql(
  "test_insert_heads_of_before",
  `INSERT INTO ingest.metric_heads
     (org_id, run_id, key, minimise, count, mean, m2, min, min_step, max, max_step, latest, latest_step, latest_id, first_step,
      rank_best, rank_latest, rank_created_at)
   SELECT $1, $2, 'k' || (n * 37 % 1000), n % 3 = 0, n, n / 7.0, CASE WHEN n = 5 THEN 'Infinity'::float8 ELSE n END, -n, n, n * 2, n + 1,
          n + 0.5, 100 + n, 50 + n, n - 1, CASE WHEN n % 2 = 0 THEN n END, n, '2026-01-02T03:04:05Z'
   FROM generate_series(1, $3::integer) n`,
);
const insertLanding = sql(
  "test_insert_landing_of_before",
  "INSERT INTO ingest.metric_landing VALUES ($1, $2, 900, 0, 0, 0, ''), ($1, $2, 64, 0, 0, 0, '')",
);
const views = `SELECT h.*, h.count::text AS count,
          (SELECT row(r.rank_best, r.rank_latest, r.rank_created_at)::text FROM ingest.metric_ranks_v1 r
           WHERE r.org_id = h.org_id AND r.run_id = h.run_id AND r.key = h.key) AS indexed,
          (SELECT row(r.rank_best, r.rank_latest)::text FROM ingest.unsettled_ranks_v1 r
           WHERE r.org_id = h.org_id AND r.run_id = h.run_id AND r.key = h.key) AS unindexed,
          (SELECT p.points_since::text FROM ingest.unsettled_points_v1 p
           WHERE p.org_id = h.org_id AND p.run_id = h.run_id) AS points
   FROM ingest.metric_heads_v1 h ORDER BY h.org_id, h.run_id, h.key`;
/** The same views by the names that they got later. */
const renamedViews = views
  .replaceAll("metric_heads_v1", "metric_aggregates_v1")
  .replaceAll("unsettled_ranks_v1", "unindexed_sort_values_v1")
  .replaceAll("metric_ranks_v1", "metric_sort_values_v1")
  .replaceAll("unsettled_points_v1", "unindexed_points_v1")
  .replaceAll("r.rank_", "r.sort_");
const readViews = (text: string) => owner.rows(sql(`test_views_${text.length}`, text), []);
const types = sql(
  "test_view_types",
  `SELECT c.relname AS view, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type, a.attcollation::regcollation::text AS collation
   FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
   WHERE c.relkind = 'v' AND c.relnamespace = 'ingest'::regnamespace AND a.attnum > 0
     AND c.relname = ANY ('{metric_heads_v1,metric_ranks_v1,unsettled_ranks_v1,settled_points_v1,project_points_v1,unsettled_points_v1}')
   ORDER BY c.relname, a.attnum`,
);

type Seen = { readonly views: unknown[]; readonly types: unknown[] };
let seenBefore: Seen;
let seenAfter: Seen;
let seenRenamed: unknown[];

beforeAll(async () => {
  database = await createFencedDatabase();
  owner = database.admin;
  before = await ingestMigrationsBefore("0007");
  await database.migrate([platformMigrations, runsMigrations, before]);
  await owner.rows(insertHeads, [first!.orgId, first!.runId, 70]);
  await owner.rows(insertLanding, [first!.orgId, first!.runId]);
  await owner.rows(insertHeads, [second!.orgId, second!.runId, 3]);
  await owner.rows(sql("test_unsettle", "INSERT INTO ingest.unsettled_runs VALUES ($1, $2, 1)"), [
    second!.orgId,
    second!.runId,
  ]);
  seenBefore = { views: await readViews(views), types: await owner.rows(types, []) };
  beforeNames = await ingestMigrationsBefore("0012");
  await database.migrate([beforeNames]);
  seenAfter = { views: await readViews(views), types: await owner.rows(types, []) };
  beforeCounters = await ingestMigrationsBefore("0014");
  await database.migrate([beforeCounters]);
  seenRenamed = await readViews(renamedViews);
  await database.migrate([ingestMigrations]);
});
afterAll(async () => {
  await database.drop();
  await before.remove();
  await beforeNames.remove();
  await beforeCounters.remove();
});

test("readers of the key aggregates see after the change what they saw before, in the same columns", async () => {
  expect(seenBefore.views).toHaveLength(73);
  expect(seenAfter.views).toEqual(seenBefore.views);
  expect(seenBefore.types.length).toBeGreaterThan(25);
  expect(seenAfter.types).toEqual(seenBefore.types);
  expect(seenRenamed).toEqual(seenBefore.views);
});

test("keys have numbers in their order, and runs go on after their newest landing segment or aggregate", async () => {
  const keys = sql(
    "test_migrated_keys",
    "SELECT key, key_id AS id FROM ingest.metric_keys WHERE run_id = $1 ORDER BY key",
  );
  const found = await owner.rows<{ key: string; id: number }>(keys, [first!.runId]);
  expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 70 }, (_, i) => i));
  const state = sql(
    "test_migrated_runs",
    `SELECT version, key_count AS keys, point_count AS points,
            (SELECT array_agg(cardinality(p.stats) ORDER BY p.page) FROM ingest.metric_aggregate_pages p WHERE p.run_id = r.run_id) AS pages
     FROM ingest.metric_runs r WHERE run_id = $1`,
  );
  expect(await owner.one(state, [first!.runId])).toEqual({
    version: 900,
    keys: 70,
    points: 2485,
    pages: [320, 320, 60],
  });
  expect(await owner.one(state, [second!.runId])).toEqual({ version: 53, keys: 3, points: 6, pages: [30] });
});

test("rows are fenced from their owner again", async () => {
  const open = sql(
    "test_open_tables",
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'ingest'::regnamespace AND NOT (relrowsecurity AND relforcerowsecurity)`,
  );
  expect(await owner.rows(open, [])).toEqual([]);
});
