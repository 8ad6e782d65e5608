import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createDb, migrate, plannedSql, type Db } from "@tidemark/pg";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import { readLogPage } from "../logs/log-lines.sql.ts";
import { logStart } from "../logs/log-page.rules.ts";
import {
  artifactsMigrations,
  ingestMigrations,
  ingestMigrationsBefore,
  runsMigrations,
} from "../migrations.fixture.ts";

let database: TestDatabase;
let owner: Db;
const runs = [1, 2].map(() => ({ orgId: randomUUID(), runId: randomUUID() }));
const LINES = 5120;

beforeAll(async () => {
  database = await createTestDatabase();
  const before = await ingestMigrationsBefore("0030");
  await migrate(database.url, [runsMigrations, artifactsMigrations, before]);
  await before.remove();
  owner = createDb({ url: database.url, role: "postgres", application: "test", connectionsMax: 1 });
  for (const [i, { orgId, runId }] of runs.entries()) {
    await owner.rows(
      plannedSql("test_project", "INSERT INTO runs.projects (org_id, id, name) VALUES ($1::uuid, $1::uuid, 'p')"),
      [orgId],
    );
    await owner.rows(
      plannedSql(
        "test_run",
        `INSERT INTO runs.runs (org_id, id, project_id, name, status, config, tags, metadata, created_at, started_at)
         VALUES ($1::uuid, $2::uuid, $1::uuid, 'run', 'running', '{}', '{own}', '{}', now(), now())`,
      ),
      [orgId, runId],
    );
    await owner.rows(
      plannedSql(
        "test_attributes",
        `INSERT INTO ingest.attributes (org_id, id, run_id, path, type, logged_at, value, summary, created_at)
         SELECT $1::uuid, n, $2::uuid, 'console/stdout', 'string_series', '2026-01-05T10:00:00Z', to_json('line ' || n), '{}'::json, now()
         FROM generate_series(1, $3::integer) n
         UNION ALL SELECT $1::uuid, 20000, $2::uuid, 'console/stderr', 'string_series', now(), to_json(repeat('é', 10000)), '{}', now()
         UNION ALL SELECT $1::uuid, 20001, $2::uuid, 'console/stderr', 'string_series', now(), '1'::json, '{}', now()
         UNION ALL SELECT $1::uuid, 20002, $2::uuid, 'sys/tags', 'tag', now(), '"Logged"', '{}', now()
         UNION ALL SELECT $1::uuid, 20003, $2::uuid, 'other', 'tag', now(), '"nothing"', '{}', now()`,
      ),
      [orgId, runId, i === 0 ? LINES : 3],
    );
  }
  await migrate(database.url, [ingestMigrations]);
});
afterAll(async () => {
  await owner?.close();
  await database?.drop();
});

test("lines and tags that were logged before are found after the migration", async () => {
  const db = createDb({ url: database.url, role: "tidemark_ingest", application: "test", connectionsMax: 1 });
  for (const [i, { orgId, runId }] of runs.entries()) {
    const read = (stream: "stdout" | "stderr") =>
      readLogPage(db, { orgId, runId, stream }, { after: logStart, linesMax: 6000, matchesMax: 6000, text: "" });
    const count = i === 0 ? LINES : 3;
    const stdout = await read("stdout");
    expect(stdout.map(({ lineNumber, message }) => [lineNumber, message])).toEqual(
      Array.from({ length: count }, (_, n) => [n + 1, `line ${n + 1}`]),
    );
    expect(new Set(stdout.map(({ sentSeconds }) => sentSeconds))).toEqual(new Set([Date.UTC(2026, 0, 5, 10) / 1000]));
    expect((await read("stderr")).map(({ message }) => message)).toEqual(["é".repeat(8192)]);
    const texts = plannedSql("test_texts", "SELECT tags FROM runs.run_texts WHERE org_id = $1 AND run_id = $2");
    expect(await owner.rows(texts, [orgId, runId])).toEqual([{ tags: ["own", "logged"] }]);
  }
  await db.close();
});
