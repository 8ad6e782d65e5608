import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createDb, migrate, sql, type Db } from "@tidemark/pg";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import {
  artifactsMigrations,
  ingestMigrations,
  ingestMigrationsBefore,
  runsMigrations,
} from "../migrations.fixture.ts";

const sources = [1, 2].map(() => ({ orgId: randomUUID(), runId: randomUUID(), projectId: randomUUID() }));

let database: TestDatabase;
let owner: Db;
let before: Awaited<ReturnType<typeof ingestMigrationsBefore>>;

const insertProject = sql(
  "test_insert_old_project",
  "INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, 'p')",
);
const insertRun = sql(
  "test_insert_old_run",
  `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
   VALUES ($1, $2, $3, 'run', 'running', '{}', '{}', '{}', now(), now())`,
);
const insertAttributes = sql(
  "test_insert_old_attributes",
  `INSERT INTO ingest.attributes (org_id, id, run_id, path, type, step, logged_at, value, summary, created_at)
   SELECT $1, a.id, $2, 'é', a.type, 3, now(), '"ü"', '{}', now()
   FROM (VALUES (1, 'config'), (2, 'histogram_series'), (3, 'string_series')) AS a (id, type)`,
);
const objects = sql(
  "test_migrated_objects",
  "SELECT id, kind, project_id AS project, step, bytes, from_attribute AS attribute FROM ingest.objects WHERE org_id = $1 ORDER BY id",
);
const weights = sql("test_migrated_weights", "SELECT bytes FROM ingest.attributes WHERE org_id = $1 ORDER BY id");

beforeAll(async () => {
  database = await createTestDatabase();
  before = await ingestMigrationsBefore("0017");
  await migrate(database.url, [runsMigrations, before]);
  owner = createDb({ url: database.url, role: "postgres", application: "test", connectionsMax: 1 });
  for (const { orgId, runId, projectId } of sources) {
    await owner.rows(insertProject, [orgId, projectId]);
    await owner.rows(insertRun, [orgId, runId, projectId]);
    await owner.rows(insertAttributes, [orgId, runId]);
  }
  await migrate(database.url, [runsMigrations, ingestMigrations, artifactsMigrations]);
});
afterAll(async () => {
  await owner.close();
  await database.drop();
  await before.remove();
});

test.each(sources)(
  "histograms and texts that were logged before are among the objects",
  async ({ orgId, projectId }) => {
    const facts = { project: projectId, step: 3, bytes: 8, attribute: true };
    expect(await owner.rows(objects, [orgId])).toEqual([
      { id: 2, kind: "histogram", ...facts },
      { id: 3, kind: "text", ...facts },
    ]);
    expect(await owner.rows(weights, [orgId])).toEqual([{ bytes: 8 }, { bytes: 8 }, { bytes: 8 }]);
  },
);
