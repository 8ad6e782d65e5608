import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { sql, type Tx } from "@tidemark/pg";
import { listMetricColumns, listNewestAttributes } from "./compare/compare-runs.sql.ts";
import { findForkFingerprint, listRelatives } from "./fork/relatives.sql.ts";
import { insertAggregates } from "./metrics/aggregates.fixture.ts";
import { listRunsById } from "./read/runs.sql.ts";
import { asOwner, callAs, makeRun, startRuns, type RunsFixture } from "./runs.fixture.ts";

// The cost of these statements must not grow with the organization.
let fixture: RunsFixture;
const call = callAs();
const { orgId } = call;
let parent = "";
let ids: string[] = [];

beforeAll(async () => {
  fixture = await startRuns();
  const { id, projectId } = await makeRun(fixture.client, call);
  parent = id;
  await asOwner(fixture, "ALTER TABLE runs.runs DISABLE TRIGGER USER");
  const made = await asOwner<{ id: string }>(
    fixture,
    `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at, parent_run_id)
     SELECT $1, gen_random_uuid(), $2, 'r', 'running', '{}', '{}', '{}', now(), now(), CASE WHEN n <= 200 THEN $3::uuid END
     FROM generate_series(1, 20000) n RETURNING id`,
    [orgId, projectId, parent],
  );
  ids = made.slice(0, 50).map((run) => run.id);
  await asOwner(
    fixture,
    insertAggregates(`SELECT $1::uuid, r.id, 'k' || k, false, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1
                 FROM runs.runs r CROSS JOIN generate_series(1, 5) k WHERE r.org_id = $1`),
    [orgId],
  );
  await asOwner(
    fixture,
    `INSERT INTO ingest.attributes (org_id, id, run_id, path, type, logged_at, value, summary, created_at)
     SELECT $1, row_number() OVER (), r.id, 'p' || p, 'config', now(), '1', '{}', now()
     FROM runs.runs r CROSS JOIN generate_series(1, 5) p WHERE r.org_id = $1`,
    [orgId],
  );
  await asOwner(fixture, "ANALYZE");
});
afterAll(() => fixture.close());

const scanned = sql(
  "test_tables_scanned",
  `SELECT schemaname || '.' || relname AS name FROM pg_stat_xact_user_tables
   WHERE seq_scan > 0 AND relname <> 'projects'`,
);

test.each<[string, (tx: Tx) => Promise<unknown[]>]>([
  ["a lineage", (tx) => listRelatives(tx, orgId, parent, undefined, { children: 100, metricKeys: 250 })],
  [
    "the lineage of a run without children",
    (tx) => listRelatives(tx, orgId, ids[0] ?? "", undefined, { children: 100, metricKeys: 250 }),
  ],
  ["runs by id", (tx) => listRunsById(tx, orgId, ids, undefined)],
  ["metric columns", (tx) => listMetricColumns(tx, orgId, ids, { after: "", limit: 100 })],
  [
    "the newest attributes",
    (tx) => listNewestAttributes(tx, orgId, ids, { after: "", rowsEach: 100, bytesEach: 1000, bytesAll: 50_000 }),
  ],
])("%s: no table is read from end to end, however often it is asked for", async (_, read) => {
  // From the sixth time on, PostgreSQL may have a plan that knows no values.
  for (let i = 0; i < 8; i += 1) {
    const [rows, tables] = await fixture.db.withTenant(orgId, async (tx) => [
      await read(tx),
      await tx.rows(scanned, []),
    ]);
    expect(rows.length).toBeGreaterThan(0);
    expect(tables).toEqual([]);
  }
});

test("the look for a keyed fork reads no table from end to end", async () => {
  const tables = await fixture.db.withTenant(orgId, async (tx) => {
    expect(await findForkFingerprint(tx, orgId, parent)).toBeNull();
    expect(await findForkFingerprint(tx, orgId, randomUUID())).toBeUndefined();
    return tx.rows(scanned, []);
  });
  expect(tables).toEqual([]);
});
