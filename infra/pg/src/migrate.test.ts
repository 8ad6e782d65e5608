import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createTestDatabase, type TestDatabase } from "@tidemark/testkit";
import pg from "pg";
import { migrate, type MigrationSet } from "./migrate.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
});

const folders: string[] = [];

async function setOf(schema: string, files: Record<string, string>): Promise<MigrationSet> {
  const directory = await mkdtemp(join(tmpdir(), "tidemark-migrations-"));
  folders.push(directory);
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(directory, name), text)));
  return { schema, directory };
}

async function ask(text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(text)).rows as unknown[];
  } finally {
    await client.end();
  }
}

describe("migrate", () => {
  test("several processes that start simultaneously apply each file once", async () => {
    const set = await setOf("race", {
      "0001_schema.sql": "CREATE SCHEMA race; CREATE TABLE race.t (n int);",
      "0002_row.sql": "INSERT INTO race.t VALUES (1);",
    });
    const reports = await Promise.all(Array.from({ length: 6 }, () => migrate(database.url, [set])));
    expect(reports.flatMap((report) => report.applied).sort()).toEqual(["race/0001_schema.sql", "race/0002_row.sql"]);
    expect(await ask("SELECT n FROM race.t")).toEqual([{ n: 1 }]);
  });

  test("a file that fails leaves nothing of itself and names itself", async () => {
    const set = await setOf("broken", { "0001_half.sql": "CREATE SCHEMA broken; SELECT nonsense;" });
    await expect(migrate(database.url, [set])).rejects.toThrow("migration broken/0001_half.sql failed");
    expect(await ask("SELECT 1 FROM pg_namespace WHERE nspname = 'broken'")).toEqual([]);
  });

  test("a file that was changed after it had been applied is refused", async () => {
    const set = await setOf("changed", { "0001_a.sql": "CREATE SCHEMA changed;" });
    await migrate(database.url, [set]);
    await writeFile(join(set.directory, "0001_a.sql"), "CREATE SCHEMA changed; -- edited");
    await expect(migrate(database.url, [set])).rejects.toThrow("was changed after it had been applied");
  });

  test("a database of a newer version is refused with a line that says so", async () => {
    const newer = await setOf("newer", { "0001_a.sql": "CREATE SCHEMA newer;", "0002_b.sql": "SELECT 1;" });
    await migrate(database.url, [newer]);
    const older = await setOf("newer", { "0001_a.sql": "CREATE SCHEMA newer;" });
    await expect(migrate(database.url, [older])).rejects.toThrow("was written by a newer Tidemark");
  });

  test("plans are made for large owners in every table that has one, also in those that were there before", async () => {
    const set = await setOf("owned", {
      "0001_a.sql": "CREATE SCHEMA owned; CREATE TABLE owned.a (org_id uuid, project_id uuid, n int);",
    });
    await migrate(database.url, [set]);
    await writeFile(join(set.directory, "0002_b.sql"), "CREATE TABLE owned.b (org_id uuid, n int);");
    await migrate(database.url, [set]);
    const options = `SELECT c.relname || '.' || a.attname AS name, a.attoptions AS options FROM pg_class c
                     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
                     WHERE c.relnamespace = 'owned'::regnamespace ORDER BY 1`;
    expect(await ask(options)).toEqual([
      { name: "a.n", options: null },
      { name: "a.org_id", options: ["n_distinct=10"] },
      { name: "a.project_id", options: ["n_distinct=100"] },
      { name: "b.n", options: null },
      { name: "b.org_id", options: ["n_distinct=10"] },
    ]);
  });

  test("tables that have rows already are planned so immediately", async () => {
    const set = await setOf("filled", {
      "0001_a.sql": "CREATE SCHEMA filled; CREATE TABLE filled.a (org_id uuid);",
      "0002_b.sql": "INSERT INTO filled.a SELECT gen_random_uuid() FROM generate_series(1, 1000); ANALYZE filled.a;",
    });
    await migrate(database.url, [set]);
    expect(await ask("SELECT n_distinct FROM pg_stats WHERE schemaname = 'filled'")).toEqual([{ n_distinct: 10 }]);
  });
});
