import { createHash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createDb, platformMigrations, sql, type Db } from "@tidemark/pg";
import { createFencedDatabase, type FencedDatabase, until } from "@tidemark/testkit";
import { Client } from "pg";
import { ingestMigrations, ingestMigrationsBefore, runsMigrations } from "../../migrations.fixture.ts";

const FILE = "0014_project_points.sql";

let database: FencedDatabase;
let before: Awaited<ReturnType<typeof ingestMigrationsBefore>>;
let readers: Db;

/** Two organizations of two projects each, with three runs in each project, of which the last was never written. */
const organizations = [1, 2].map((n) => {
  const projects = [1, 2].map((k) => ({
    projectId: randomUUID(),
    runs: [100 * n + 10 * k, 1000 * k, undefined].map((points) => ({ runId: randomUUID(), points })),
  }));
  return { orgId: randomUUID(), projects };
});
const runsOf = ({ projects }: (typeof organizations)[number]) => projects.flatMap(({ runs }) => runs);

const insertProject = sql(
  "test_insert_project_of_points",
  "INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2::uuid, $2::text)",
);
const insertRun = sql(
  "test_insert_run_of_points",
  `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
   VALUES ($1, $2, $3, 'run', 'running', '{}', '{}', '{}', now(), now())`,
);
const insertPoints = sql(
  "test_insert_points_of_before",
  "INSERT INTO ingest.metric_runs (org_id, run_id, version, key_count, point_count) VALUES ($1, $2, 1, 1, $3)",
);
/** As the version before counted: when runs were indexed. Of one organization all counters are behind. */
const insertCounters = sql(
  "test_insert_counters_of_before",
  `WITH counted AS (INSERT INTO ingest.run_points (org_id, run_id, points) VALUES ($1, $2, $4) RETURNING *)
   INSERT INTO ingest.project_points AS p (org_id, project_id, points) SELECT org_id, $3::uuid, points FROM counted
   ON CONFLICT (org_id, project_id) DO UPDATE SET points = p.points + excluded.points`,
);
/** A write of one value by the function of before; $4 is how many values the run has then. */
const APPEND = `
  SELECT outcome FROM ingest.append_metric_group($1, ARRAY[$2::uuid], ARRAY[$3::bigint], ARRAY[$3::bigint + 1], ARRAY[1],
    ARRAY[$4::bigint], ARRAY[true], ARRAY[1], ARRAY[$3::bigint + 1], ARRAY[0.0], ARRAY[0.0], ARRAY['\\x00'::bytea], ARRAY[-1.0],
    '{}', '{}', '{}', '{}', '{}', '{}', '{}',
    ARRAY[ROW(1, 0, 0, '{1,1,0,1,0,1,0,1,0,0}'::float8[])::ingest.aggregate_page_change])`;
const readTotals = sql(
  "test_totals_after_migration",
  "SELECT project_id AS id, points FROM ingest.project_points_v1 ORDER BY project_id",
);
const readRuns = sql(
  "test_runs_after_migration",
  "SELECT run_id AS id, points FROM ingest.run_points_v1 ORDER BY run_id",
);

const waiting = sql(
  "test_writes_that_wait",
  `SELECT count(*) AS n FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
   WHERE NOT l.granted`,
);

const written = organizations[0]!.projects[0]!.runs[0]!;

async function connect(role: string): Promise<Client> {
  const client = new Client({ connectionString: database.url, options: `-c role=${role}` });
  await client.connect();
  return client;
}

/** Applies the change in a transaction that is still open, lets two connections begin a write, and commits. */
async function writeWhileItChanges(): Promise<unknown[]> {
  const { orgId } = organizations[0]!;
  const text = await readFile(join(ingestMigrations.directory, FILE), "utf8");
  const [change, used, fresh] = await Promise.all(
    [database.ownerRole, "tidemark_ingest", "tidemark_ingest"].map(connect),
  );
  const append = (client: Client, version: number) =>
    client.query(APPEND, [orgId, written.runId, version, written.points! + version]);
  // This one has the plans of the function, the other never called it.
  expect((await append(used!, 1)).rows).toEqual([{ outcome: "applied" }]);
  written.points = written.points! + 1;
  await change!.query("BEGIN");
  await change!.query(text);
  const writes = [used!, fresh!].map((client) => append(client, 2).catch((error: unknown) => error));
  await until("the writes to wait", async () => (await database.admin.one<{ n: number }>(waiting, []))!.n === 2);
  await change!.query("INSERT INTO public.tidemark_migrations VALUES ('ingest', $1, $2)", [
    FILE,
    createHash("sha256").update(text).digest("hex"),
  ]);
  await change!.query("COMMIT");
  const answers = await Promise.all(writes);
  await Promise.all([change!, used!, fresh!].map((client) => client.end()));
  return answers;
}

let outcomes: unknown[];

beforeAll(async () => {
  database = await createFencedDatabase();
  before = await ingestMigrationsBefore("0014");
  await database.migrate([platformMigrations, runsMigrations, before]);
  for (const [n, { orgId, projects }] of organizations.entries()) {
    for (const { projectId, runs } of projects) {
      await database.admin.rows(insertProject, [orgId, projectId]);
      for (const { runId, points } of runs) {
        await database.admin.rows(insertRun, [orgId, runId, projectId]);
        if (points === undefined) continue;
        await database.admin.rows(insertPoints, [orgId, runId, points]);
        await database.admin.rows(insertCounters, [orgId, runId, projectId, points - n]);
      }
    }
  }
  // Values of a run that is not there.
  await database.admin.rows(insertPoints, [organizations[0]!.orgId, randomUUID(), 7]);
  readers = createDb({ url: database.url, role: "tidemark_runs", application: "test", connectionsMax: 1 });
  outcomes = await writeWhileItChanges();
  await database.migrate([ingestMigrations]);
});
afterAll(async () => {
  await readers.close();
  await database.drop();
  await before.remove();
});

test("the total of a project is that of its runs, whatever was counted before", async () => {
  for (const organization of organizations) {
    const totals = organization.projects.map(({ projectId, runs }) => ({
      id: projectId,
      points: runs.reduce((sum, { points }) => sum + (points ?? 0), 0),
    }));
    expect(await readers.readTenant(organization.orgId, (tx) => tx.rows(readTotals, []))).toEqual(
      totals.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
  }
});

test("the values of a run are its own", async () => {
  const [, second] = organizations;
  const runs = runsOf(second!).filter(({ points }) => points !== undefined);
  expect(await readers.readTenant(second!.orgId, (tx) => tx.rows(readRuns, []))).toEqual(
    runs.map(({ runId, points }) => ({ id: runId, points })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
});

test("series are counted for what was there, and the month begins with nothing", async () => {
  const usage = createDb({ url: database.url, role: "tidemark_usage", application: "test", connectionsMax: 1 });
  const read = sql(
    "test_usage_after_migration",
    `SELECT month_points AS "monthPoints", points, series FROM ingest.usage_v1`,
  );
  for (const organization of organizations) {
    const counted = runsOf(organization).filter(({ points }) => points !== undefined);
    const points = counted.reduce((sum, run) => sum + run.points!, 0);
    // Each has one key.
    expect(await usage.readTenant(organization.orgId, (tx) => tx.rows(read, []))).toEqual([
      { monthPoints: 0, points, series: counted.length },
    ]);
  }
  await usage.close();
});

test("a write that was on its way fails, and has stored nothing that is not counted", async () => {
  // An internal error of PostgreSQL: the type is gone.
  expect(outcomes).toMatchObject([{ code: "XX000" }, { code: "XX000" }]);
  const stored = sql(
    "test_stored_after_migration",
    `SELECT version, point_count AS points, (SELECT count(*) FROM ingest.metric_segments s WHERE s.run_id = r.run_id) AS segments
     FROM ingest.metric_runs r WHERE run_id = $1`,
  );
  expect(await database.admin.one(stored, [written.runId])).toEqual({
    version: 2,
    points: written.points,
    segments: 1,
  });
});

test("rows are fenced from their owner again", async () => {
  const open = sql(
    "test_open_tables",
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relnamespace = 'ingest'::regnamespace AND NOT (relrowsecurity AND relforcerowsecurity)`,
  );
  expect(await database.admin.rows(open, [])).toEqual([]);
});
