import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
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

/** A schema whose baseline and migrations are these files. */
async function setOf(schema: string, files: Record<string, string>): Promise<MigrationSet> {
  const directory = await mkdtemp(join(tmpdir(), "tidemark-migrations-"));
  folders.push(directory);
  await mkdir(join(directory, "migrations"));
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
  test("several processes that start simultaneously apply each file once, the baseline first", async () => {
    const set = await setOf("race", {
      "schema.sql": "CREATE SCHEMA race; CREATE TABLE race.t (n int);",
      "migrations/0001_row.sql": "INSERT INTO race.t VALUES (1);",
      "migrations/0002_column.sql": "ALTER TABLE race.t ADD COLUMN m int DEFAULT 2;",
    });
    const reports = await Promise.all(Array.from({ length: 6 }, () => migrate(database.url, [set])));
    expect(reports.filter(({ applied }) => applied.length > 0)).toEqual([
      { applied: ["race/baseline", "race/0001_row.sql", "race/0002_column.sql"] },
    ]);
    expect(await ask("SELECT n, m FROM race.t")).toEqual([{ n: 1, m: 2 }]);
  });

  test("a schema without a folder of migrations is its baseline", async () => {
    const set = await setOf("plain", { "schema.sql": "CREATE SCHEMA plain;" });
    await rm(join(set.directory, "migrations"), { recursive: true });
    expect(await migrate(database.url, [set])).toEqual({ applied: ["plain/baseline"] });
    expect(await migrate(database.url, [set])).toEqual({ applied: [] });
  });

  test("a frozen baseline has priority over the schema that it was generated from", async () => {
    const set = await setOf("frozen", { "schema.sql": "CREATE SCHEMA frozen;" });
    await migrate(database.url, [set]);
    await rename(join(set.directory, "schema.sql"), join(set.directory, "baseline.sql"));
    await writeFile(join(set.directory, "schema.sql"), "not even SQL");
    await writeFile(join(set.directory, "migrations/0001_t.sql"), "CREATE TABLE frozen.t ();");
    expect(await migrate(database.url, [set])).toEqual({ applied: ["frozen/0001_t.sql"] });
  });

  test("a file that fails leaves nothing of itself and names itself", async () => {
    const set = await setOf("broken", {
      "schema.sql": "CREATE SCHEMA broken;",
      "migrations/0001_half.sql": "CREATE TABLE broken.t (); SELECT nonsense;",
    });
    await expect(migrate(database.url, [set])).rejects.toThrow("broken/0001_half.sql failed");
    expect(await ask("SELECT 1 FROM pg_class WHERE relnamespace = 'broken'::regnamespace")).toEqual([]);
  });

  test.each([
    ["schema.sql", /was changed after it had been applied: start with an empty database/],
    ["migrations/0001_a.sql", /was changed after it had been applied$/],
  ])("%s is refused when it was changed after it had been applied", async (file, text) => {
    const schema = file === "schema.sql" ? "changed_baseline" : "changed_migration";
    const set = await setOf(schema, {
      "schema.sql": `CREATE SCHEMA ${schema};`,
      "migrations/0001_a.sql": `CREATE TABLE ${schema}.a ();`,
    });
    await migrate(database.url, [set]);
    await writeFile(join(set.directory, file), "SELECT 1;");
    await expect(migrate(database.url, [set])).rejects.toThrow(text);
  });

  test("a database of a newer version is refused with a line that says so", async () => {
    const newer = await setOf("newer", { "schema.sql": "CREATE SCHEMA newer;", "migrations/0001_b.sql": "SELECT 1;" });
    await migrate(database.url, [newer]);
    const older = await setOf("newer", { "schema.sql": "CREATE SCHEMA newer;" });
    await expect(migrate(database.url, [older])).rejects.toThrow("was written by a newer Tidemark");
  });

  test("plans are created for large owners in every table that has one, also in those that were there before", async () => {
    const set = await setOf("owned", {
      "schema.sql": "CREATE SCHEMA owned; CREATE TABLE owned.a (org_id uuid, project_id uuid, n int);",
    });
    await migrate(database.url, [set]);
    await writeFile(join(set.directory, "migrations/0001_b.sql"), "CREATE TABLE owned.b (org_id uuid, n int);");
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
      "schema.sql": "CREATE SCHEMA filled; CREATE TABLE filled.a (org_id uuid);",
      "migrations/0001_b.sql":
        "INSERT INTO filled.a SELECT gen_random_uuid() FROM generate_series(1, 1000); ANALYZE filled.a;",
    });
    await migrate(database.url, [set]);
    expect(await ask("SELECT n_distinct FROM pg_stats WHERE schemaname = 'filled'")).toEqual([{ n_distinct: 10 }]);
  });
});
